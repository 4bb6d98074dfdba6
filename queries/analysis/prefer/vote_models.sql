-- Models of votes on some benchmarks, under the names that their aliases point to.
-- grain: one row per checkpoint
with voted as (
    select checkpoint_a_id as id from preference where benchmark_id in (:benchmark_ids)
    union
    select checkpoint_b_id as id from preference where benchmark_id in (:benchmark_ids)
)
select checkpoint.id, coalesce(named.name, model.name) as model,
    training_seed.label as training_seed, training_seed.recipe, checkpoint.key as checkpoint
from voted
join checkpoint on checkpoint.id = voted.id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
left join model named on named.id = model.canonical_id
order by checkpoint.id
