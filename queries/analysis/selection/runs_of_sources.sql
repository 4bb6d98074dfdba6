-- Runs of some sources (:sources).
-- grain: one row per run and source
select distinct run_source.source_id, run_source.run_id
from run_source
where run_source.source_id in (:sources)
