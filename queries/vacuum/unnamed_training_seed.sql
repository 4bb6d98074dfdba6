-- Removes trainings that have no checkpoint.
-- grain: one row per training
delete from training_seed
where not exists (
    select 1 from checkpoint where checkpoint.training_seed_id = training_seed.id
)
