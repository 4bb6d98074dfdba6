-- Models that are shown under the name of one that is to be removed have their own again.
-- grain: one row per model
update model set canonical_id = null
where canonical_id is not null
  and not exists (
    select 1 from training_seed where training_seed.model_id = model.canonical_id
  )
