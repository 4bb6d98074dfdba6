-- Benchmarks that are shown under the name of one that is gone have their own again.
-- grain: one row per benchmark
update benchmark set canonical_id = null
where canonical_id is not null
  and canonical_id in (select id from unnamed_benchmark)
