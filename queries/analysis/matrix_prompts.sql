-- Prompts of the rows of a matrix.
-- grain: one row per prompt
-- placeholder: condition condition -- on id
select id, benchmark_id, split, key, occurrence, tool_id, text
from prompt
where
{condition}
