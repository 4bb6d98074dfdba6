-- A hash of all that a source says of each of its prompts; `is_one` where its runs and items say
-- the same, but for the id, which only counts as there or not: the first that comes is stored;
-- `varies` where they say different things, or some say more.
-- grain: one row per prompt
create or replace temp table said_hash as
select prompt_id, min(said) as said, min(said) = max(said) as is_one,
    min(words) < max(words) as varies
from (
    select prompt_id, words, hash(not has_id, words) as said
    from stage_fact
    where is_first
) as item
group by prompt_id
