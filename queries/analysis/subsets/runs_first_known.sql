-- When runs became known: their start, else when their first source was read.
-- grain: one row per run
-- columns:
--   run_id: id of the run
--   first_known: start of the run, else of the first ingest of a source that has it [UTC]
select run.id as run_id, coalesce(min(run.started_at), min(source.claimed_at)) as first_known
from run
left join run_source on run_source.run_id = run.id
left join source on source.id = run_source.source_id
where run.id in (:run_ids)
group by run.id
order by run.id
