-- Marks runs as superseded under a key: lists of equal length, of their ids, of the key, and of the
-- ids of those that supersede them (null: none does any more).
-- grain: one row per source of a superseded run
update run_source
set superseded_by = pair.new_id
from (
    select unnest(cast(:old as bigint[])) as old_id, unnest(cast(:keys as varchar[])) as run_key,
        unnest(cast(:new as bigint[])) as new_id
) as pair
where run_source.run_id = pair.old_id and run_source.run_key is not distinct from pair.run_key
