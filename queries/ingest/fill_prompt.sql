-- Fills in what stored prompts lacked.
-- grain: one row per prompt
update prompt set
    tool_id = coalesce(prompt.tool_id, filled.tool_id),
    text_hash = coalesce(prompt.text_hash, filled.text_hash),
    text = coalesce(prompt.text, filled.text),
    target = coalesce(prompt.target, filled.target),
    choices = coalesce(prompt.choices, cast(filled.choices as json)),
    metadata = coalesce(cast(filled.metadata as json), prompt.metadata)
from filled_prompt as filled
where prompt.id = filled.id
