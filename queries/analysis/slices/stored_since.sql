-- When runs were first stored, by whichever source gave them first.
-- grain: one row per run that a source holds
-- columns: stored_at: [UTC]; null if it was not kept
select run_source.run_id, min(source.loaded_at) as stored_at
from run_source
join source on source.id = run_source.source_id
where run_source.run_id in (:run_ids)
group by run_source.run_id
