-- Prompts whose id, id in the harness or key is a text.
-- grain: one row per prompt, at most 20
-- placeholder: condition condition -- on benchmark_id
select id, tool_id, key
from prompt
where ('' || id = :text or tool_id = :text or key = :text) and {condition}
order by id
limit 20
