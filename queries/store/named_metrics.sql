-- Metrics of two labels, with what two names of one metric have to agree in.
-- grain: one row per benchmark and metric
select coalesce(named.name, benchmark.name) as benchmark,
    metric.name || case when metric.filter = '' then '' else ',' || metric.filter end as label,
    metric.id, benchmark_metric.benchmark_id, metric.unit, metric.link, benchmark_metric.kind,
    benchmark_metric.low, benchmark_metric.high, headline_metric.higher_is_better,
    scorer.kind as scorer_kind, scorer.name as scorer, scorer.judge_model
from benchmark_metric
join metric on metric.id = benchmark_metric.metric_id
join scorer on scorer.id = metric.scorer_id
join benchmark on benchmark.id = benchmark_metric.benchmark_id
left join benchmark named on named.id = benchmark.canonical_id
left join headline_metric on headline_metric.benchmark_id = benchmark_metric.benchmark_id
    and headline_metric.metric_id = metric.id
where metric.name || case when metric.filter = '' then '' else ',' || metric.filter end
    in (:labels)
order by benchmark, label, metric.id
