-- Benchmarks that lie below themselves: they have no root and no path.
-- grain: one row per benchmark in a ring
-- columns:
--   benchmark_id: id of the benchmark
--   benchmark: its name
--   n: benchmarks in its ring
with recursive walk as (
  select id as benchmark_id, parent_id as reached_id
  from benchmark
  where parent_id is not null
  union
  select walk.benchmark_id, benchmark.parent_id as reached_id
  from walk
  join benchmark on benchmark.id = walk.reached_id
  where benchmark.parent_id is not null
),
in_ring as (
  select benchmark_id
  from walk
  where reached_id = benchmark_id
)
select walk.benchmark_id, benchmark.name as benchmark, count(*) as n
from walk
join in_ring on in_ring.benchmark_id = walk.benchmark_id
join benchmark on benchmark.id = walk.benchmark_id
group by walk.benchmark_id, benchmark.name
order by walk.benchmark_id nulls last
