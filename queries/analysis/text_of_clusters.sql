-- Texts of the prompts by which clusters of equal texts are numbered.
-- grain: one row per prompt
-- placeholder: these condition -- on prompt.id
select id, text_hash
from prompt
where {these}
