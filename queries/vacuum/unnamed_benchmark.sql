-- Removes the benchmarks that nothing is about.
-- grain: one row per benchmark
delete from benchmark where id in (select id from unnamed_benchmark)
