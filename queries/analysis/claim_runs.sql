-- Runs by what another store knows them by.
-- grain: one row per run
select model.name as model, benchmark.name as benchmark, run.split, run.condition_key,
    run.run_key, run.content_digest, run.n_found as n_samples, run.n_scores
from run
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
join benchmark on benchmark.id = run.benchmark_id
where run.id in (:run_ids)
