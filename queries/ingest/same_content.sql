-- How many prompts a source has, and how many contents, where rows of one run hold the same: with
-- the standard error of a plain mean of one score over either. Content is the key of the content
-- where there is one, else question, target and options.
-- grain: one row per run, variant and metric that has rows of the same content
-- placeholder: runs column -- numbers of the runs to look at, with commas between them
-- placeholder: place column -- what tells rows apart where their content does not: r or prompt_id
with score as (
    select f.r, f.run, f.variant_id, f.metric_id, f.{place} as place, f.value, f.weight, w.content
    from stage_score as f
    join stage_row as w on w.r = f.r
    where f.run in ({runs}) and f.value is not null and w.content is not null
),
of_place as (
    select run, variant_id, metric_id, count(*) as n, stddev_samp(mean) / sqrt(count(*)) as se
    from (
        select run, variant_id, metric_id, avg(value) as mean
        from score group by run, variant_id, metric_id, place
    )
    group by run, variant_id, metric_id
),
of_content as (
    select run, variant_id, metric_id, count(*) as n,
        stddev_samp(mean) / sqrt(count(*)) as se,
        min(first_r) as first_r, bool_or(is_weighted) as is_weighted
    from (
        select run, variant_id, metric_id, avg(value) as mean, min(r) as first_r,
            bool_or(weight <> 1) as is_weighted
        from score group by run, variant_id, metric_id, content
    )
    group by run, variant_id, metric_id
)
select p.run, m.metric, p.n as n_places, c.n as n_contents,
    case when not c.is_weighted then p.se end as se_places,
    case when not c.is_weighted then c.se end as se_contents
from of_place as p
join of_content as c using (run, variant_id, metric_id)
join (select distinct run, metric, metric_id from metric_id) as m using (run, metric_id)
where p.n > c.n
order by p.run, c.first_r, m.metric
