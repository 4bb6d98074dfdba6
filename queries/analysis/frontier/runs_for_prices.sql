-- By what a price of a run is found: its model, as recorded and as shown, and its day.
-- grain: one row per run
select run_id, model, model_recorded, started_at
from run_current
where run_id in (:run_ids)
