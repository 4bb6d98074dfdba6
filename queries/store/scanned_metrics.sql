-- The metrics that scans of a source have measured, with each benchmark that has figures of them.
-- grain: one row per benchmark and metric
select distinct benchmark_metric.benchmark_id, benchmark_metric.metric_id
from scan_value
join benchmark_metric on benchmark_metric.metric_id = scan_value.metric_id
where scan_value.source_id = :source
union
select distinct run.benchmark_id, score.metric_id
from run_source
join run on run.id = run_source.run_id
join score on score.run_id = run.id
where run_source.source_id = :source and score.origin = 'scanned'
order by 1, 2
