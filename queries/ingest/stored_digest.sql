-- What digest.sql says of staged facts, made anew of those that a store holds: `score`,
-- `generation` and `choice` of a block of runs, `prompt_place` (the hash of the natural key of each
-- prompt), `prompt_variant` and `metric`. Scores of scanners are no part of it: they come from
-- other sources.
-- grain: one row per run
with own_score as (
    select * from score where origin <> 'scanned'
),
variant as (
    select v.id, d.draw, hash_64(
        concat_ws(chr(31), d.draw, v.perturbation, v.fewshot_draw, v.template)
    ) as hash
    from (
        select variant_id, draw from own_score
        union
        select variant_id, draw from generation
        union
        select variant_id, draw from choice
    ) as d
    left join prompt_variant as v on v.id = d.variant_id
),
named as (
    select id, name || chr(31) || filter || chr(31) as name from metric
),
scored as (
    select id, name, hash_64(name || '0.0') as hash_0, hash_64(name || '1.0') as hash_1 from named
),
said as (
    select s.run_id, s.prompt_id, s.variant_id, s.draw, case s.value when 0 then m.hash_0
        when 1 then m.hash_1
        else hash_64(m.name || coalesce(cast(s.value as varchar), 'null')) end as hash
    from own_score as s
    left join scored as m on m.id = s.metric_id
    union all
    select run_id, prompt_id, variant_id, draw, hash_64(coalesce(response_hash, ''::blob))
    from generation
    union all
    select run_id, prompt_id, variant_id, draw, hash_64(
        choice_index || chr(31) || coalesce(cast(loglikelihood as varchar), 'null')
    )
    from choice
)
select s.run_id, count(*) as n,
    cast(sum(xor(xor(p.hash, v.hash), s.hash)) as varchar) as total
from said as s
left join prompt_place as p on p.id = s.prompt_id
left join variant as v on v.id = s.variant_id and v.draw = s.draw
group by s.run_id
