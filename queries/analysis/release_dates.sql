-- Settings of runs, as JSON text, among which stands when their model was released.
-- grain: one row per run
select id as run_id, cast(configuration as text) as settings
from run
where position('release_date' in cast(configuration as text)) > 0 and id in (:run_ids)
