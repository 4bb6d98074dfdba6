-- Every staged row with the natural key of its prompt and variant.
-- grain: one row per staged row; r is its number
create or replace temp table stage_row as
select
    s.rowid as r,
    s.run,
    coalesce(s.prompt_id, cast(coalesce(s.position, s.rowid) as varchar)) as item,
    coalesce(s.position, s.rowid) as position,
    coalesce(k.key, s.prompt_id, cast(coalesce(s.position, s.rowid) as varchar)) as key,
    case
        when k.key is not null then 'content'
        when s.prompt_id is not null then 'id'
        else 'position'
    end as key_kind,
    coalesce(s.perturbation, '') as perturbation,
    coalesce(s.fewshot_draw, '') as fewshot_draw,
    coalesce(s.template, '') as template,
    s.draw
from stage_sample as s
left join known_key as k on k.identity_hash = sha256(s.identity)
