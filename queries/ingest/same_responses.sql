-- Current runs of the condition of a run (of :run_ids) that no id, seed or time tells from it, of
-- which nearly every response (19 of 20) is the same as in it, and a score of one of these is not:
-- somebody else gave it. Whether all responses are the same.
-- grain: one row per pair of runs
with same as (
    select run.id as run_id, other.id as other_id, run.n_generations,
        own.prompt_id, own.variant_id, own.draw, own.response_hash
    from run
    join run as other on other.condition_key = run.condition_key and other.id <> run.id
    join generation as own on own.run_id = run.id
    join generation as theirs
        on theirs.run_id = other.id
        and theirs.prompt_id = own.prompt_id
        and theirs.variant_id = own.variant_id
        and theirs.draw = own.draw
    where run.id in (:run_ids)
        and other.superseded_by is null
        and other.status <> 'invalidated'
        and other.n_generations = run.n_generations
        and other.run_key is null
        and cast(other.marks as varchar) is not distinct from cast(run.marks as varchar)
        and theirs.response_hash = own.response_hash
),
alike as (
    select run_id, other_id, count(*) = n_generations as is_all
    from same
    group by run_id, other_id, n_generations
    having count(*) * 20 >= n_generations * 19 and count(distinct response_hash) > 1
)
select alike.run_id, alike.other_id, alike.is_all
from alike
where exists (
    select 1
    from same
    join score as one
        on one.run_id = same.run_id
        and one.prompt_id = same.prompt_id
        and one.variant_id = same.variant_id
        and one.draw = same.draw
    join score as two
        on two.run_id = same.other_id
        and two.prompt_id = one.prompt_id
        and two.variant_id = one.variant_id
        and two.draw = one.draw
        and two.metric_id = one.metric_id
    where same.run_id = alike.run_id
        and same.other_id = alike.other_id
        and one.value <> two.value
)
order by alike.run_id, alike.other_id
