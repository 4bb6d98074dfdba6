-- Metrics that current runs have scores of.
-- grain: one row per run and metric
select run.benchmark_id, run_metric.run_id, run_metric.metric_id, run_metric.n_scored
from run_metric
join run on run.id = run_metric.run_id
where run.status <> 'invalidated' and run.superseded_by is null
    and run.benchmark_id in (:benchmark_ids)
