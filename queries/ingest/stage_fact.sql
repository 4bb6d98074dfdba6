-- Every staged row with the ids of its prompt and variant and the number of its draw. `place` is
-- a 64-bit hash of the natural keys of prompt, variant and draw, which is the same in every store.
-- grain: one row per staged row; r is its number
create or replace temp table stage_fact as
with variant as (
    select variant_no, variant_id,
        concat_ws(chr(31), perturbation, fewshot_draw, template) as name
    from variant_id
)
select w.r, w.run, p.prompt_id, v.variant_id, coalesce(w.draw, 0) as draw,
    md5_number_lower(concat_ws(chr(31), p.key_hash, coalesce(w.draw, 0), v.name)) as place
from stage_row as w
join stage_prompt as p on p.run = w.run and p.item = w.item
    and p.key_no = w.key_no
join variant as v on v.variant_no = w.variant_no
