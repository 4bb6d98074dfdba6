-- Removes models of which there is no training.
-- grain: one row per model
delete from model
where not exists (select 1 from training_seed where training_seed.model_id = model.id)
