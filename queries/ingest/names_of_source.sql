-- What the runs of the source :source are of.
-- grain: one row per model and benchmark
select distinct model.name as model, benchmark.name as benchmark
from run_source
join run on run.id = run_source.run_id
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
join benchmark on benchmark.id = run.benchmark_id
where run_source.source_id = :source
order by 1, 2
