-- Metrics that a run has scores or published figures of.
-- grain: one row per metric
select metric.id, metric.name, metric.filter, metric.unit, metric.link, scorer.name as scorer,
    scorer.kind as scorer_kind, scorer.judge_model, scorer.parameters as scorer_parameters,
    benchmark_metric.kind, benchmark_metric.low, benchmark_metric.high,
    benchmark_metric.higher_is_better, benchmark_metric.chance_level, headline_metric.is_default
from metric
join scorer on scorer.id = metric.scorer_id
left join benchmark_metric on benchmark_metric.metric_id = metric.id
    and benchmark_metric.benchmark_id = :benchmark
left join headline_metric on headline_metric.metric_id = metric.id
    and headline_metric.benchmark_id = :benchmark
where metric.id in (
    select metric_id from score where run_id = :run
    union select metric_id from published_score where run_id = :run)
order by metric.id nulls last
