-- Texts of the prompts by which clusters of equal texts are numbered.
-- grain: one row per prompt
select id, text_hash
from prompt
where id in (:prompt_ids)
