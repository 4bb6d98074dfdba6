-- What the runs of some benchmarks cost, as far as the store knows it.
-- grain: one row per run with a cost
select run_cost.run_id, run_cost.cost, run_cost.n_generations
from run_cost
join run on run.id = run_cost.run_id
where run.benchmark_id in (:benchmark_ids) and run_cost.cost is not null
order by run_cost.run_id
