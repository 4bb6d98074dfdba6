-- Settings of runs as they are recorded, with the name that the benchmark is stored under.
-- grain: one row per run
select run.id as run_id, benchmark.name as benchmark, run.condition_key, run.recorded_key,
    cast(run.settings as varchar) as settings
from run
join benchmark on benchmark.id = run.benchmark_id
where run.settings is not null
order by run.id
