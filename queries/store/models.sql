-- Models with the name that they are shown under and how many current runs they have.
-- grain: one row per model
with counted as (
    select training_seed.model_id, count(*) as n_runs,
        count(distinct run.benchmark_id) as n_benchmarks
    from run
    join checkpoint on checkpoint.id = run.checkpoint_id
    join training_seed on training_seed.id = checkpoint.training_seed_id
    where run.status <> 'invalidated' and run.superseded_by is null
    group by training_seed.model_id
), voted as (
    select training_seed.model_id, count(*) as n_votes
    from (
        select checkpoint_a_id as checkpoint_id from preference
        union all
        select checkpoint_b_id as checkpoint_id from preference
    ) as side
    join checkpoint on checkpoint.id = side.checkpoint_id
    join training_seed on training_seed.id = checkpoint.training_seed_id
    group by training_seed.model_id
)
select model.name as model, coalesce(named.name, model.name) as shown_as, model.family,
    model.developer, model.parameter_count, model.release_date,
    coalesce(counted.n_runs, 0) as n_runs,
    coalesce(counted.n_benchmarks, 0) as n_benchmarks,
    coalesce(voted.n_votes, 0) as n_votes
from model
left join model as named on named.id = model.canonical_id
left join counted on counted.model_id = model.id
left join voted on voted.model_id = model.id
order by model.name
