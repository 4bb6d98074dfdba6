-- Writes what stands of prompts once a source is gone.
-- grain: one row per prompt
update prompt set
    tool_id = restated.tool_id,
    text_hash = restated.text_hash,
    text = restated.text,
    target = restated.target,
    choices = cast(restated.choices as json),
    metadata = cast(restated.metadata as json)
from restated_prompt as restated
where prompt.id = restated.id
