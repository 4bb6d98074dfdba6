-- Files that some runs (:run_ids) came from, the first of each that was read.
-- grain: one row per run
select run_source.run_id, min(source.path) as path
from run_source
join source on source.id = run_source.source_id
where run_source.run_id in (:run_ids)
group by run_source.run_id
