-- Marks runs as superseded: lists of equal length, of their ids and of those that supersede them.
-- grain: one row per superseded run
update run
set superseded_by = pair.new_id
from (
    select unnest(cast(:old as bigint[])) as old_id, unnest(cast(:new as bigint[])) as new_id
) as pair
where run.id = pair.old_id
