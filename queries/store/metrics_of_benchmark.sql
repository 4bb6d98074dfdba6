-- Metrics of a benchmark under all its names, the headline one first.
-- grain: one row per metric and filter
select metric.name || case when metric.filter = '' then '' else ',' || metric.filter end as metric,
    bool_or(headline_metric.is_default) as is_headline, max(headline_metric.n_runs) as n_runs,
    min(coalesce(benchmark_metric.default_by, '')) as lowest,
    max(coalesce(benchmark_metric.default_by, '')) as highest,
    bool_and(benchmark_metric.higher_is_better) as higher_is_better,
    max(benchmark_metric.direction_by) as direction_by,
    min(benchmark_metric.low) as low, max(benchmark_metric.high) as high
from headline_metric
join benchmark_metric on benchmark_metric.benchmark_id = headline_metric.benchmark_id
    and benchmark_metric.metric_id = headline_metric.metric_id
join metric on metric.id = headline_metric.metric_id
join benchmark on benchmark.id = headline_metric.benchmark_id
where coalesce(benchmark.canonical_id, benchmark.id) = :benchmark
group by metric.name, metric.filter
order by is_headline desc nulls last, max(headline_metric.n_runs) desc nulls last, metric.name,
    metric.filter
