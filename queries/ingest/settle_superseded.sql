-- Runs are superseded that are so under every key that a source brought them under.
-- grain: one row per run whose state changes
update run
set superseded_by = held.superseded_by
from (
    select run_id, case when count(*) = count(superseded_by) then max(superseded_by) end
        as superseded_by
    from run_source
    where run_id in (select unnest(cast(:ids as bigint[])))
    group by run_id
) as held
where run.id = held.run_id and run.superseded_by is distinct from held.superseded_by
