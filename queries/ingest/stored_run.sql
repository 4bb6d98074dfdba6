-- Stored runs of some conditions, or that a source brought under some keys of their tools, with
-- each key that they came under, and the run that replaced them under it. Invalidated ones are
-- among them: what comes again is the same run, but none of them stands for another.
-- grain: one row per run and key
-- placeholder: columns column -- of run and run_source, with commas between them
select {columns}
from run
join run_source on run_source.run_id = run.id
where run.id in (
    select id from run
    where condition_key in (select unnest(cast(:conditions as varchar[])))
        or recorded_key in (select unnest(cast(:conditions as varchar[])))
    union all
    select run_id from run_source
    where run_key in (select unnest(cast(:run_keys as varchar[])))
)
