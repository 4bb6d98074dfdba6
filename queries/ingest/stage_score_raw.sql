-- Scores, flattened, with values that are no numbers set to null.
-- grain: one row per staged row and score
create or replace temp table stage_score_raw as
select
    r, run, metric, coalesce(filter, '') as filter,
    case when isfinite(value) then value end as value,
    coalesce(weight, 1.0) as weight,
    coalesce(n_draws, 1) as n_draws,
    coalesce(raw, case when not isfinite(value) then cast(value as varchar) end) as raw,
    coalesce(status, case when isfinite(value) then 'scored' else 'error' end) as status,
    coalesce(origin, 'recorded') as origin
from (
    select rowid as r, run, unnest(scores, max_depth := 2)
    from stage_sample
    where len(scores) > 0
)
