-- Settings of runs, as JSON text, among which stands when their model was released.
-- grain: one row per run
select id as run_id, cast(configuration as text) as settings
from run
where cast(configuration as text) like '%release_date%' and id in (:run_ids)
