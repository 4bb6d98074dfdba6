-- Answer options of the prompts of some benchmarks, where they are stored.
-- grain: one row per prompt that has options
-- placeholder: here condition -- on prompt.benchmark_id
select prompt.id, prompt.choices
from prompt
where prompt.choices is not null and {here}
order by prompt.id
