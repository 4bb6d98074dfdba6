-- Values of metrics that are no finite number: infinite, lists, words; and numbers whose square is
-- too large for a double. A missing one or a NaN is not among them. They are kept as text; infinite
-- ones are read as such where figures are made, unless the others are 0 or 1; all else counts as
-- unscored. first_item: the prompt of the first, in the order of the dump.
-- grain: one row per run, metric and why: infinite, not_a_number, too_large
with unusable as (
    select r, run, metric_id, status, lower(raw) as raw, try_cast(raw as double) as number
    from stage_score
    where value is null and raw is not null
),
judged as (
    select r, run, metric_id,
        case
            when regexp_matches(raw, '^"?\s*[+-]?inf(inity)?\s*"?$') then 'infinite'
            when coalesce(isfinite(number) and abs(number) >= 1e140, false) then 'too_large'
            when status = 'not_scalar' then 'not_a_number'
        end as why
    from unusable
)
select j.run, j.metric_id, m.metric, j.why, count(*) as n, arg_min(w.item, j.r) as first_item
from judged as j
join stage_row as w on w.r = j.r
join (select distinct run, metric, metric_id from metric_id) as m
    on m.run = j.run and m.metric_id = j.metric_id
where j.why is not null
group by j.run, j.metric_id, m.metric, j.why
order by j.run, m.metric, j.why
