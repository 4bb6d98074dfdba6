-- Runs that have the condition and the values of some runs (:ids), with each source that holds
-- them.
-- grain: one row per run, source, place and key, in the order in which they came
select run.recorded_key, run.content_digest, run.id as run_id, run.status, run.bytes_key,
    cast(run.marks as varchar) as marks, run_source.source_id, run_source.run_key,
    cast(source.settings as varchar) as settings
from run
join run_source on run_source.run_id = run.id
join source on source.id = run_source.source_id
where (run.recorded_key, run.content_digest) in (
    select alike.recorded_key, alike.content_digest from run as alike where alike.id in (:ids)
)
order by run.recorded_key, run.content_digest, source.loaded_at nulls last, source.id, run.id,
    run_source.run_key
