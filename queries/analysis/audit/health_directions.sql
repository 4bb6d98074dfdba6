-- Metrics of current runs of which nobody said whether higher is better, headline metrics first.
-- grain: one row per benchmark and metric, at most :most of them
select benchmark.name as benchmark, metric.name as metric, metric.filter as metric_filter,
    headline_metric.is_default as is_headline, headline_metric.n_runs, count(*) over () as n_all
from benchmark_metric
join benchmark on benchmark.id = benchmark_metric.benchmark_id
join metric on metric.id = benchmark_metric.metric_id
join headline_metric on headline_metric.benchmark_id = benchmark_metric.benchmark_id
    and headline_metric.metric_id = metric.id
where headline_metric.higher_is_better is null and headline_metric.n_runs > 0
order by case when headline_metric.is_default then 0 else 1 end, benchmark.name nulls last,
    metric.name nulls last, metric.filter nulls last
limit :most
