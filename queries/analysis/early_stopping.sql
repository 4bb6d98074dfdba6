-- Runs that ended early by a rule that looked at their scores, with what the dump says of it.
-- grain: one row per run whose configuration names early_stopping
select run.id as run_id, run.configuration
from run
where run.id in (:run_ids) and strpos(cast(run.configuration as varchar), '"early_stopping"') > 0
order by run.id
