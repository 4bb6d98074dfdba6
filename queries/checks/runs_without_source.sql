-- Runs that no source holds: nobody could forget or repeat them.
-- grain: one row per run
-- columns:
--   run_id: id of the run
--   n: always 1
select run.id as run_id, 1 as n
from run
where not exists (select 1 from run_source where run_source.run_id = run.id)
order by run.id nulls last
