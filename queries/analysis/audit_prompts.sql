-- Prompts whose keys are audited, with the fields of their documents.
-- grain: one row per prompt
-- placeholder: condition condition -- on prompt.id
select prompt.id, prompt.split, prompt.key, prompt.occurrence, prompt.tool_id, prompt.text_hash,
    prompt.text, prompt.target, prompt.choices, prompt.metadata
from prompt
where {condition}
order by prompt.split, prompt.key, prompt.occurrence, prompt.id
