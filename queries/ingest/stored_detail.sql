-- What stored prompts say beyond their text.
-- grain: one row per prompt
select id, tool_id, target, choices, metadata
from prompt
where id in (select unnest(cast(:ids as bigint[])))
