-- Values of metrics that are no finite number: infinite, lists, words; and numbers whose square is
-- too large for a double. A missing one or a NaN is not among them. They are kept as text and count
-- as unscored.
-- grain: one row per run, metric and whether they are too large
with unusable as (
    select run, metric_id, status, lower(raw) as raw, try_cast(raw as double) as number
    from stage_score
    where value is null and raw is not null
)
select
    u.run, m.metric,
    coalesce(isfinite(u.number) and abs(u.number) >= 1e140, false) as is_too_large,
    count(*) as n
from unusable as u
join (select distinct run, metric, metric_id from metric_id) as m
    on m.run = u.run and m.metric_id = u.metric_id
where u.status = 'not_scalar' or is_too_large
    or regexp_matches(u.raw, '^"?\s*[+-]?inf(inity)?\s*"?$')
group by u.run, m.metric, is_too_large
order by u.run, m.metric, is_too_large
