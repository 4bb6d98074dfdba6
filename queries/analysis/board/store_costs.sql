-- What runs of some models on some benchmarks cost, where all of it is known.
-- grain: one row per run
select run_id, model, benchmark, n_generations, cost
from run_cost
where model in (:models) and benchmark in (:benchmarks) and cost > 0
order by run_id
