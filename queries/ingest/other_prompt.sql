-- Prompts of which a source says something that is not stored, or that is stored otherwise; and of
-- which it does not say what is stored, where it says that of others ($has_text: it has a column of
-- questions, and so on).
-- grain: one row per prompt; text_differs: both have a question, and not the same one
select id, key, key_kind, benchmark_id, tool_id, text, text_hash(text) as text_hash, target,
    choices, metadata, stored_text_hash is null as lacks_text,
    coalesce(text_hash(text) <> stored_text_hash, false) as text_differs
from said_prompt
where (text is not null and text_hash(text) is distinct from stored_text_hash)
    or (target is not null and md5(target) is distinct from stored_target)
    or (choices is not null and md5(choices) is distinct from stored_choices)
    or (metadata is not null and md5(metadata) is distinct from stored_metadata)
    or (tool_id is not null and tool_id is distinct from stored_tool_id)
    or ($has_text and text is null and stored_text_hash is not null)
    or ($has_target and target is null and stored_target is not null)
    or ($has_choices and choices is null and stored_choices is not null)
    or ($has_metadata and metadata is null and stored_metadata is not null)
    or ($has_tool_id and tool_id is null and stored_tool_id is not null)
order by id
