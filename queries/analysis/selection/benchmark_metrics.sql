-- Metrics of benchmarks, with their scorer and what is known of their values.
-- grain: one row per benchmark and metric
select benchmark_metric.benchmark_id, metric.id, metric.name, metric.filter, metric.unit,
    metric.link, scorer.name as scorer, scorer.judge_model, scorer.parameters_key,
    headline_metric.is_default, headline_metric.n_runs, benchmark_metric.kind,
    benchmark_metric.low, benchmark_metric.high, headline_metric.higher_is_better,
    scorer.kind as scorer_kind
from benchmark_metric
join metric on metric.id = benchmark_metric.metric_id
join scorer on scorer.id = metric.scorer_id
join headline_metric on headline_metric.benchmark_id = benchmark_metric.benchmark_id
    and headline_metric.metric_id = metric.id
where benchmark_metric.benchmark_id in (:benchmark_ids)
