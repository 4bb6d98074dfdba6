-- Scores with all their ids; values that are no numbers are null.
-- grain: one row per staged row and score
create or replace temp table stage_score as
with score as (
    select rowid as r, run, unnest(scores, max_depth := 2)
    from stage_sample
    where len(scores) > 0
)
select
    f.r, f.run, f.prompt_id, f.variant_id, f.draw, f.place, m.metric_id,
    m.metric || chr(31) || m.filter || chr(31) as metric,
    case when isfinite(s.value) then s.value end as value,
    coalesce(s.weight, 1.0) as weight,
    coalesce(s.n_draws, 1) as n_draws,
    coalesce(s.raw, case when not isfinite(s.value) then cast(s.value as varchar) end) as raw,
    case when isfinite(s.value) then coalesce(s.status, 'scored')
        else coalesce(nullif(s.status, 'scored'), 'error') end as status,
    coalesce(s.origin, 'recorded') as origin
from score as s
join stage_fact as f on f.r = s.r
join metric_id as m on m.run = s.run and m.metric = s.metric
    and m.filter = coalesce(s.filter, '')
