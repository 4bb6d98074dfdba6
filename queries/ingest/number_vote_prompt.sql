-- Ids of the questions that the store does not hold yet, in the order of the dump.
-- grain: one row per new question; $first is the id of the first
update vote_prompt
set prompt_id = fresh.id
from (
    select benchmark_id, split, key, $first + row_number() over (order by first_r) - 1 as id
    from vote_prompt
    where prompt_id is null
) as fresh
where fresh.benchmark_id = vote_prompt.benchmark_id and fresh.split = vote_prompt.split
    and fresh.key = vote_prompt.key
