-- When the model of runs was released: the day that a person said, and settings, as JSON text,
-- among which one stands.
-- grain: one row per run
select run.id as run_id, coalesce(named.release_date, model.release_date) as said,
    cast(run.configuration as text) as settings
from run
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
left join model as named on named.id = model.canonical_id
where run.id in (:run_ids) and (
    coalesce(named.release_date, model.release_date) is not null
    or position('release_date' in cast(run.configuration as text)) > 0
)
