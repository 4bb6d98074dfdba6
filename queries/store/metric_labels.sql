-- Metrics of benchmarks by their labels.
-- grain: one row per benchmark, under the name that it is shown as, and label
select distinct coalesce(named.name, benchmark.name) as benchmark,
    metric.name || case when metric.filter = '' then '' else ',' || metric.filter end as label
from benchmark_metric
join metric on metric.id = benchmark_metric.metric_id
join benchmark on benchmark.id = benchmark_metric.benchmark_id
left join benchmark named on named.id = benchmark.canonical_id
order by benchmark, label
