-- The prompts of a run before and after one of them, its place, and how many there are.
-- grain: one row
with own as (
    select prompt_id from prompt_score where run_id = :run
    union
    select prompt_id from generation where run_id = :run
    union
    select prompt_id from choice where run_id = :run
)
select max(case when prompt_id < :prompt then prompt_id end) as previous_id,
    min(case when prompt_id > :prompt then prompt_id end) as next_id,
    count(case when prompt_id <= :prompt then 1 end) as place, count(*) as n
from own
