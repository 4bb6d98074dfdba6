-- Benchmarks that are shown under another name.
-- grain: one row per alias of a benchmark
select benchmark.name as benchmark, canonical.name as shown_as
from benchmark
join benchmark as canonical on canonical.id = benchmark.canonical_id
order by benchmark.name
