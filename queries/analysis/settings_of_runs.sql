-- Settings, marks and versions of runs, each in its one form, with the names that their model and
-- benchmark are stored under.
-- grain: one row per run
select run.id as run_id, model.name as model, benchmark.name as benchmark,
    cast(run.settings as varchar) as settings,
    cast(run.marks as varchar) as marks, cast(run.versions as varchar) as versions
from run
join benchmark on benchmark.id = run.benchmark_id
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
where run.id in (:run_ids)
