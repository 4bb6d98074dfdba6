-- Runs of a load in which nearly all prompts that have several rows, of which no draw is told, have
-- (19 of 20) the same response in all of them, and some another score: two scorers of one answer.
-- grain: one row per run
with told as (
    select f.run, f.prompt_id, f.variant_id, f.r, s.response_hash
    from stage_fact as f
    join stage_sample as s on s.rowid = f.r
    where s.draw is null
),
asked as (
    select run, prompt_id, variant_id, count(*) as n_rows,
        count(response_hash) as n_given, count(distinct response_hash) as n_responses,
        min(response_hash) as response_hash, min(r) as first_r, max(r) as last_r
    from told
    group by run, prompt_id, variant_id
    having count(*) > 1
),
scored as (
    select distinct run, prompt_id, variant_id
    from (
        select t.run, t.prompt_id, t.variant_id, t.metric_id
        from stage_score as t
        join told on told.r = t.r
        group by t.run, t.prompt_id, t.variant_id, t.metric_id
        having min(t.value) < max(t.value)
    ) as metric
)
select a.run, count(*) as n_prompts,
    count(*) filter (where a.n_given = a.n_rows and a.n_responses = 1) as n_same,
    min(case when s.run is not null then a.first_r end) as first_r,
    min_by(a.last_r, case when s.run is not null then a.first_r end) as last_r
from asked as a
left join scored as s on s.run = a.run and s.prompt_id = a.prompt_id
    and s.variant_id = a.variant_id
    and a.n_given = a.n_rows and a.n_responses = 1
group by a.run
having n_same * 20 >= n_prompts * 19 and count(s.run) > 0
    and count(distinct a.response_hash) > 1
order by a.run
