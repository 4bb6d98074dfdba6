-- Name of the benchmark of a prompt.
-- grain: one row: the prompt
select coalesce(named.name, benchmark.name) as benchmark
from prompt
join benchmark on benchmark.id = prompt.benchmark_id
left join benchmark named on named.id = benchmark.canonical_id
where prompt.id = :prompt
