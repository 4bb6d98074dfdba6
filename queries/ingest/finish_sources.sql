-- Marks sources as loaded, with what became of each: lists of equal length, one per column.
-- grain: one row per source
update source
set
    state = 'loaded', loaded_at = :loaded_at, notes = cast(told.notes as json),
    seconds = told.seconds, n_runs = told.n_runs, n_seen_again = told.n_seen_again,
    n_superseded = told.n_superseded, n_samples = told.n_samples, n_scores = told.n_scores,
    n_votes = told.n_votes, n_rejected = told.n_rejected
from (
    select
        unnest(cast(:id as bigint[])) as id,
        unnest(cast(:notes as varchar[])) as notes,
        unnest(cast(:seconds as float8[])) as seconds,
        unnest(cast(:n_runs as bigint[])) as n_runs,
        unnest(cast(:n_seen_again as bigint[])) as n_seen_again,
        unnest(cast(:n_superseded as bigint[])) as n_superseded,
        unnest(cast(:n_samples as bigint[])) as n_samples,
        unnest(cast(:n_scores as bigint[])) as n_scores,
        unnest(cast(:n_votes as bigint[])) as n_votes,
        unnest(cast(:n_rejected as bigint[])) as n_rejected
) as told
where source.id = told.id
