-- Runs whose scores of scanners may change, with the metrics of these: what some sources have
-- scanned, and what was scanned of some runs.
-- grain: one row per run and metric
create temporary table scanned_pair as
select way.run_id, found.metric_id
from scan_value found
join transcript way on way.uuid = found.uuid
where found.source_id in (select unnest(cast(:sources as bigint[])))
union
select way.run_id, found.metric_id
from scan_value found
join transcript way on way.place = found.place
where found.source_id in (select unnest(cast(:sources as bigint[])))
union
select way.run_id, found.metric_id
from transcript way
join scan_value found on found.uuid = way.uuid
where way.run_id in (select unnest(cast(:runs as bigint[])))
union
select way.run_id, found.metric_id
from transcript way
join scan_value found on found.place = way.place
where way.run_id in (select unnest(cast(:runs as bigint[])))
