-- Scores with all their ids. A value that is no number, or that no generation or no weight stands
-- behind, is null. One whose square is too small for a double (BLEU writes 2e-308 for none) is 0,
-- with the number as raw: one of the engines refuses to calculate with it. One whose square is too
-- large is null: a single such score would end every view over the whole store with an error.
-- What a dump says is its own: only the store makes scores of scans.
-- grain: one row per staged row and score
create or replace temp table stage_score as
with score as (
    select rowid as r, run, unnest(scores, max_depth := 2)
    from stage_sample
    where len(scores) > 0
),
judged as (
    select *, isfinite(value) and abs(value) < 1e140 and coalesce(n_draws, 1) > 0
        and coalesce(weight, 1.0) >= 0 and coalesce(weight, 1.0) < 1e140 as is_usable,
        abs(value) < 1e-140 as is_nothing
    from score
)
select
    f.r, f.run, f.prompt_id, f.variant_id, f.draw, f.place, m.metric_id,
    case when s.is_usable then case when s.is_nothing then 0.0 else s.value end end as value,
    case when s.weight >= 0 and s.weight < 1e140 then s.weight else 1.0 end as weight,
    greatest(coalesce(s.n_draws, 1), 1) as n_draws,
    coalesce(s.raw, case when not s.is_usable or (s.is_nothing and s.value <> 0)
        then cast(s.value as varchar) end) as raw,
    case when s.is_usable then coalesce(s.status, 'scored')
        else coalesce(nullif(s.status, 'scored'), 'error') end as status,
    coalesce(nullif(s.origin, 'scanned'), 'recorded') as origin
from judged as s
join stage_fact as f on f.r = s.r
join metric_id as m on m.run = s.run and m.metric = s.metric
    and m.filter = coalesce(s.filter, '')
