-- The runs of some benchmarks that have scores of scanners, with the metrics of these.
-- grain: one row per run and metric
create temporary table scanned_pair as
select distinct score.run_id, score.metric_id
from score
join run on run.id = score.run_id
where score.origin = 'scanned'
    and run.benchmark_id in (select unnest(cast(:benchmarks as bigint[])))
