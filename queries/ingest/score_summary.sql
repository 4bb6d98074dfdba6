-- What the scores to store are like: how many, how many of them have a value, the range of these
-- and whether all are 0 or 1, how many have a text in place of a value, and of how many a mean of
-- draws can be taken.
-- grain: one row per run and metric
select run, metric_id, count(*) as n, count(value) as n_values, min(value) as low,
    max(value) as high, coalesce(bool_and(value in (0, 1)), false) as is_binary,
    count(*) filter (where value is null and raw is not null) as n_texts,
    count(*) filter (where value is not null and weight > 0) as n_weighted
from stage_score
group by run, metric_id
order by run, metric_id
