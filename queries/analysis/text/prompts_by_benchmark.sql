-- Prompts and their benchmark.
-- grain: one row per prompt
-- placeholder: condition condition -- on prompt
select prompt.id, coalesce(named.name, benchmark.name) as benchmark
from prompt
join benchmark on benchmark.id = prompt.benchmark_id
left join benchmark named on named.id = benchmark.canonical_id
where {condition}
order by prompt.id
