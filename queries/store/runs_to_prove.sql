-- Runs with their keys, and what these are made of.
-- grain: one row per run, by id
-- placeholder: chosen condition -- of the run
select run.id as run_id, model.name as model, benchmark.name as benchmark,
    benchmark.id as benchmark_id, run.split, run_group.harness, run_group.harness_run_id,
    run.run_key, run.recorded_key, run.condition_key, run.execution_key, run.content_digest,
    run.n_found, run.n_scores, run.n_generations, run.n_choices,
    cast(run.settings as varchar) as settings, cast(run.marks as varchar) as marks
from run
join run_group on run_group.id = run.run_group_id
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
join benchmark on benchmark.id = run.benchmark_id
where {chosen}
order by run.id
