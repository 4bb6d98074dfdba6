-- Models and benchmarks of the runs from :first to :last.
-- grain: one row per model and benchmark
select distinct model.name as model, benchmark.name as benchmark
from run
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
join benchmark on benchmark.id = run.benchmark_id
where run.id between :first and :last
order by model, benchmark
