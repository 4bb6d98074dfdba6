-- A hash of all that a source says of each of its prompts; `is_one` where its runs and items say
-- the same. An id only counts as there or not: the first that comes is stored.
-- grain: one row per prompt
create or replace temp table said_hash as
select prompt_id, min(said) as said, min(said) = max(said) as is_one
from (
    select i.prompt_id,
        hash(s.prompt_id is null, s.text, s.target, s.choices, s.metadata) as said
    from stage_prompt as i
    join stage_sample as s on s.rowid = i.first_r
) as item
group by prompt_id
