-- Forgets the bounds that a person had said before of a metric of a benchmark, under all its names.
-- grain: one row per row of benchmark_metric
delete from statement
where about = 'bounds'
  and subject_id in (
    select described.id
    from benchmark_metric described
    where described.benchmark_id in (
        select id from benchmark where coalesce(canonical_id, id) = :benchmark
      )
      and described.metric_id in (
        select id from metric
        where name || case when filter = '' then '' else ',' || filter end = :metric
      )
  )
