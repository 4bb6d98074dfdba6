-- Settings, marks and versions of runs, each in its one form, with the name that their benchmark is
-- stored under.
-- grain: one row per run
select run.id as run_id, benchmark.name as benchmark, cast(run.settings as varchar) as settings,
    cast(run.marks as varchar) as marks, cast(run.versions as varchar) as versions
from run
join benchmark on benchmark.id = run.benchmark_id
where run.id in (:run_ids)
