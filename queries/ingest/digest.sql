-- Order-free digest of each run's facts: their count and the sum of their 64-bit hashes. Those of
-- the scores 0 and 1 are the same for all prompts.
-- grain: one row per run
with metric as (
    select *, hash_64(name || '0.0') as hash_0, hash_64(name || '1.0') as hash_1
    from (
        select run, metric_id, metric || chr(31) || filter || chr(31) as name from metric_id
    ) as named
),
line as (
    select s.run, xor(s.place, case s.value when 0 then m.hash_0 when 1 then m.hash_1
        else hash_64(m.name || coalesce(cast(s.value as varchar), 'null')) end) as hash
    from stage_score as s
    join metric as m on m.run = s.run and m.metric_id = s.metric_id
    union all
    select run, xor(place, hash_64(coalesce(response_hash, ''::blob)))
    from stage_generation
    union all
    select run, xor(place, hash_64(
        choice_index || chr(31) || coalesce(cast(loglikelihood as varchar), 'null')
    ))
    from stage_choice
)
select run, count(*) as n, cast(sum(hash) as varchar) as total
from line
group by run
