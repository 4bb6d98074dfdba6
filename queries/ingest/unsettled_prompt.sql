-- Prompts of which a source says what has not been held against the store in this session.
-- grain: one row per prompt
create or replace temp table unsettled_prompt as
select prompt_id, said, is_one
from said_hash as s
where not is_one or not exists (
    select 1 from settled_prompt as k where k.prompt_id = s.prompt_id and k.said = s.said
)
