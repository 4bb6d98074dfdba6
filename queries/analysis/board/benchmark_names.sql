-- Every name of a benchmark with the metrics that current runs have of it, and the name that views
-- show.
-- grain: one row per benchmark and metric
select distinct
    benchmark.name,
    coalesce(named.name, benchmark.name) as shown,
    metric.name as metric,
    metric.filter as metric_filter
from benchmark
left join benchmark named on named.id = benchmark.canonical_id
join run on run.benchmark_id = benchmark.id
join run_metric on run_metric.run_id = run.id
join metric on metric.id = run_metric.metric_id
where run.status <> 'invalidated' and run.superseded_by is null and run_metric.n_scored > 0
order by benchmark.name, metric.name, metric.filter
