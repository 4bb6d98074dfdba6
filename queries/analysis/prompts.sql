-- Prompts with their text, target and choices.
-- grain: one row per prompt
select prompt.id, coalesce(named.name, benchmark.name) as benchmark, prompt.benchmark_id,
    prompt.split, prompt.key, prompt.tool_id, prompt.text_hash, prompt.text, prompt.target,
    prompt.choices
from prompt
join benchmark on benchmark.id = prompt.benchmark_id
left join benchmark named on named.id = benchmark.canonical_id
where prompt.id in (:prompt_ids)
order by prompt.id
