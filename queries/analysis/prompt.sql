-- A prompt with all that is stored of it.
-- grain: one row: the prompt
select id, key, key_kind, occurrence, tool_id, split, text, target, choices, metadata
from prompt
where id = :prompt
