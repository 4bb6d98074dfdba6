-- Prompts whose keys are audited, with the fields of their documents.
-- grain: one row per prompt
select prompt.id, prompt.split, prompt.key, prompt.occurrence, prompt.tool_id, prompt.text_hash,
    prompt.text, prompt.target, prompt.choices, prompt.metadata
from prompt
where prompt.id in (:prompt_ids)
order by prompt.split, prompt.key, prompt.occurrence, prompt.id
