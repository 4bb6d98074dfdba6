-- Figures of some runs (:run_ids) by the headline metrics of their benchmarks, before repeats are
-- pooled.
-- grain: one row per current run that has a figure
-- columns: is_share: scores lie between 0 and 1
select run_score.run_id, run_score.metric, run_score.metric_filter, run_score.estimate,
    run_score.standard_error,
    described.kind = 'binary' or (described.low = 0 and described.high = 1) as is_share
from run_score
join run on run.id = run_score.run_id
left join benchmark_metric described on described.benchmark_id = run.benchmark_id
    and described.metric_id = run_score.metric_id
where run_score.is_default and run_score.run_id in (:run_ids)
