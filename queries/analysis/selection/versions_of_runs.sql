-- Versions of harness, libraries and drivers under which some runs (:runs) were made.
-- grain: one row per run
select run.id as run_id, cast(run.versions as text) as versions
from run
where run.id in (:runs) and run.versions is not null
