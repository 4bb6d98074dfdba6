-- A headline metric that a person chose is nobody's choice any more where the benchmark, under all
-- its names, has no such metric left.
-- grain: changes rows of benchmark
update benchmark
set headline_metric = null
where headline_metric is not null
  and not exists (
    select 1
    from benchmark_metric
    join metric on metric.id = benchmark_metric.metric_id
    join benchmark as other on other.id = benchmark_metric.benchmark_id
    where coalesce(other.canonical_id, other.id) = benchmark.id
      and metric.name || case when metric.filter = '' then '' else ',' || metric.filter end
        = benchmark.headline_metric
  )
