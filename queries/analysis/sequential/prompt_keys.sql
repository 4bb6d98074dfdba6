-- Natural keys of some prompts.
-- grain: one row per prompt
-- placeholder: condition condition -- on prompt.id or prompt.benchmark_id
select prompt.id, prompt.split, prompt.key, prompt.occurrence, prompt.tool_id
from prompt
where {condition}
order by prompt.id
