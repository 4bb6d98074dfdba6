-- What stands in a part of prompts.
-- grain: one row per prompt
-- placeholder: column column -- prompt.metadata, or null
-- placeholder: condition condition -- on prompt.id or prompt.benchmark_id
select prompt.id, prompt.benchmark_id, prompt.text, prompt.target, prompt.choices,
    {column} as metadata
from prompt
where {condition}
order by prompt.id
