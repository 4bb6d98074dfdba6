-- Benchmarks whose prompts are linked to those of another.
-- grain: one row per pair of benchmarks and method
select benchmark.name as benchmark, canonical.name as canonical_benchmark, prompt_link.method,
    count(*) as n_prompts
from prompt_link
join prompt on prompt.id = prompt_link.prompt_id
join benchmark on benchmark.id = prompt.benchmark_id
join prompt as target on target.id = prompt_link.canonical_prompt_id
join benchmark as canonical on canonical.id = target.benchmark_id
group by benchmark.name, canonical.name, prompt_link.method
order by 1, 2, 3
