-- What current runs cost, those of which all of it is known.
-- grain: one row per run
-- columns:
--   run_id: id of the run
--   cost: of the run [US dollars]
select run_id, cost
from run_cost
where cost is not null
order by run_id
