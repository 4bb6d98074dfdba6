-- A person says which way a metric of a benchmark, under all its names, points.
-- grain: changes rows of benchmark_metric
update benchmark_metric
set higher_is_better = :higher, direction_by = 'person'
where benchmark_id in (
    select id from benchmark where coalesce(canonical_id, id) = :benchmark
  )
  and metric_id in (
    select id from metric
    where name || case when filter = '' then '' else ',' || filter end = :metric
  )
