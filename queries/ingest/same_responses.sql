-- Current runs of the condition of a run (of :run_ids) that no id, seed or time tells from it,
-- of which every response is the same as in it, and a score of one metric is not: somebody else
-- gave it.
-- grain: one row per pair of runs
select run.id as run_id, other.id as other_id
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
    and exists (
        select 1
        from score as one
        join score as two
            on two.run_id = other.id
            and two.prompt_id = one.prompt_id
            and two.variant_id = one.variant_id
            and two.draw = one.draw
            and two.metric_id = one.metric_id
        where one.run_id = run.id and one.value <> two.value
    )
group by run.id, other.id, run.n_generations
having count(*) = run.n_generations and count(distinct own.response_hash) > 1
order by run.id, other.id
