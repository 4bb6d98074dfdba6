-- Benchmarks with more than one default metric: a leaderboard could not choose.
-- grain: one row per benchmark
-- columns:
--   benchmark_id: id of the benchmark
--   benchmark: its name
--   n: default metrics
select benchmark.id as benchmark_id, benchmark.name as benchmark, count(*) as n
from benchmark_metric
join benchmark on benchmark.id = benchmark_metric.benchmark_id
where benchmark_metric.is_default
group by benchmark.id, benchmark.name
having count(*) > 1
order by benchmark.id nulls last
