-- The benchmark of some runs.
-- grain: one row per run
select id as run_id, benchmark_id
from run
where id in (:run_ids)
