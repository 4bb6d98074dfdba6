-- A person says between which values a metric of a benchmark, under all its names, lies.
-- grain: changes rows of benchmark_metric
update benchmark_metric
set kind = 'bounded', low = :low, high = :high, is_inferred = false
where benchmark_id in (
    select id from benchmark where coalesce(canonical_id, id) = :benchmark
  )
  and metric_id in (
    select id from metric
    where name || case when filter = '' then '' else ',' || filter end = :metric
  )
