-- Order-free digest of each run's facts: a count and two sums of 64-bit hashes.
-- grain: one row per run
with line as (
    select f.run, concat_ws(chr(31), 's', f.key, f.occurrence, f.perturbation, f.fewshot_draw,
        f.template, f.draw, m.metric, m.filter, coalesce(cast(s.value as varchar), 'null')) as text
    from stage_score as s
    join stage_fact as f on f.r = s.r
    join metric_id as m on m.run = s.run and m.metric_id = s.metric_id
    union all
    select f.run, concat_ws(chr(31), 'g', f.key, f.occurrence, f.perturbation, f.fewshot_draw,
        f.template, f.draw, coalesce(hex(g.response_hash), 'null'))
    from stage_generation as g
    join stage_fact as f on f.r = g.r
    union all
    select f.run, concat_ws(chr(31), 'c', f.key, f.occurrence, f.perturbation, f.fewshot_draw,
        f.template, f.draw, c.choice_index, coalesce(cast(c.loglikelihood as varchar), 'null'))
    from stage_choice as c
    join stage_fact as f on f.r = c.r
)
select run, count(*) as n, cast(sum(md5_number_lower(text)) as varchar) as low,
    cast(sum(md5_number_upper(text)) as varchar) as high
from line
group by run
