-- The smallest and the largest value of a metric of a benchmark, under all its names.
-- grain: one row, of nulls where nothing is scored
select min(score.value) as low, max(score.value) as high
from score
join run on run.id = score.run_id
where run.benchmark_id in (
    select id from benchmark where coalesce(canonical_id, id) = :benchmark
  )
  and score.metric_id in (
    select id from metric
    where name || case when filter = '' then '' else ',' || filter end = :metric
  )
