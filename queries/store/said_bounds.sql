-- Keeps the bounds that a person has just said of a metric of a benchmark, under all its names.
-- grain: one row per row of benchmark_metric
insert into statement (source_id, about, subject_id, said)
select null, 'bounds', described.id,
    cast(
        '[' || cast(described.low as varchar) || ',' || cast(described.high as varchar) || ']'
        as json
    )
from benchmark_metric described
where described.benchmark_id in (
    select id from benchmark where coalesce(canonical_id, id) = :benchmark
  )
  and described.metric_id in (
    select id from metric
    where name || case when filter = '' then '' else ',' || filter end = :metric
  )
