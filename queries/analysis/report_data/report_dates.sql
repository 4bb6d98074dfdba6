-- When current runs were started.
-- grain: one row per run
-- columns:
--   run_id: id of the run
--   started_at: its start [UTC]
select run_id, started_at
from run_current
where started_at is not null
order by run_id
