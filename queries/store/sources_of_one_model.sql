-- Sources of new runs (from :first_run on) of the model :model that are repeats of one another.
-- grain: one row per source
select distinct source.id as source_id, source.path
from run
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
join run_source on run_source.run_id = run.id
join source on source.id = run_source.source_id
where run.id >= :first_run and model.name = :model
    and run.superseded_by is null and run.status <> 'invalidated'
    and exists (
        select 1
        from run twin
        join run_source twin_link on twin_link.run_id = twin.id
        where twin.condition_key = run.condition_key and twin.id >= :first_run
            and twin.superseded_by is null and twin.status <> 'invalidated'
            and twin.id <> run.id and twin_link.source_id <> source.id
    )
order by source.id
