-- Facts that stand twice: how many, how many of them have the same response in all their rows, and
-- how many responses these have.
-- grain: one row
-- placeholder: key column -- what makes rows the same fact
-- placeholder: table table -- of staged rows
select count(*) as n_facts,
    count(*) filter (where n_given = n_rows and n_responses = 1) as n_same,
    count(distinct response_hash) as n_responses
from (
    select count(*) as n_rows, count(s.response_hash) as n_given,
        count(distinct s.response_hash) as n_responses,
        min(s.response_hash) as response_hash
    from {table} as t
    join stage_sample as s on s.rowid = t.r
    group by {key}
    having count(*) > 1
) as fact
