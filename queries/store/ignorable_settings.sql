-- Settings of runs as they are recorded, with the names that model and benchmark are stored under,
-- and the one that the benchmark is shown under.
-- grain: one row per run
select run.id as run_id, benchmark.name as benchmark,
    coalesce(named_benchmark.name, benchmark.name) as shown_as, model.name as model,
    run.status <> 'invalidated' and run.superseded_by is null as is_current,
    run.condition_key, run.recorded_key, cast(run.settings as varchar) as settings
from run
join benchmark on benchmark.id = run.benchmark_id
left join benchmark as named_benchmark on named_benchmark.id = benchmark.canonical_id
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
where run.settings is not null
order by run.id
