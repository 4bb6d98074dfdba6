-- How many runs have scores of both of two prompts.
-- grain: one row
select count(*) as n
from (
    select run_id from prompt_score
    where prompt_id in (:prompts)
    group by run_id
    having count(distinct prompt_id) > 1
) both_scored
