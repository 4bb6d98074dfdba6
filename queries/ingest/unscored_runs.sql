-- Runs that have samples and not one score with a value, with the statuses of their scores.
-- grain: one row per run
with scored as (
    select run, count(value) as n_values,
        string_agg(distinct status, ', ' order by status) as statuses
    from stage_score
    group by run
)
select f.run, count(*) as n_samples, any_value(s.statuses) as statuses
from stage_fact as f
left join scored as s on s.run = f.run
where coalesce(s.n_values, 0) = 0
group by f.run
order by f.run
