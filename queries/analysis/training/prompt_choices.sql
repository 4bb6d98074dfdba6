-- Answer options of the prompts of some benchmarks, where they are stored.
-- grain: one row per prompt that has options
select prompt.id, prompt.choices
from prompt
where prompt.choices is not null and prompt.benchmark_id in (:benchmark_ids)
order by prompt.id
