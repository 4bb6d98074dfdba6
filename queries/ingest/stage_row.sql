-- Every staged row with its item, the number of its content key (-1: it has none) and variant. What
-- has neither an id nor a position is known by its place among the rows of its dump. `content` is a
-- hash of what tells contents apart, where there is one: the key of the content, else question,
-- target and options; `words` one of all that a row says of its prompt but the id.
-- grain: one row per staged row; r is its number
create or replace table stage_row as
select
    s.rowid as r,
    s.run,
    coalesce(s.prompt_id, cast(coalesce(s.position, s.rowid - o.first_r) as varchar)) as item,
    coalesce(s.position, s.rowid - o.first_r) as position,
    coalesce(k.key_no, -1) as key_no,
    s.prompt_id is not null as has_id,
    v.variant_no,
    s.draw,
    case when k.key_no is not null then hash(k.key_no)
        when s.text is not null then hash(s.text, s.target, s.choices) end as content,
    hash(s.text, s.target, s.choices, s.metadata) as words
from stage_sample as s
join stage_origin as o on o.run = s.run
left join known_key as k on k.identity_hash = s.identity_hash
join stage_variant as v on v.perturbation = coalesce(s.perturbation, '')
    and v.fewshot_draw = coalesce(s.fewshot_draw, '') and v.template = coalesce(s.template, '')
