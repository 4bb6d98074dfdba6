-- Every staged row with the ids of its prompt and variant and the number of its draw. `place` is
-- a 64-bit hash of the natural keys of prompt, variant and draw, which is the same in every store;
-- `is_first` where it is the first of its run and item.
-- grain: one row per staged row; r is its number
-- placeholder: item condition -- of a row and the prompt of its item
create or replace temp table stage_fact as
with drawn as (
    select d.variant_no, d.draw, v.variant_id, hash_64(
        concat_ws(chr(31), d.draw, v.perturbation, v.fewshot_draw, v.template)
    ) as hash
    from (select distinct variant_no, coalesce(draw, 0) as draw from stage_row) as d
    join variant_id as v on v.variant_no = d.variant_no
)
select w.r, w.run, p.prompt_id, d.variant_id, d.draw, xor(p.key_hash, d.hash) as place,
    w.content, w.words, w.has_id, w.r = p.first_r as is_first
from stage_row as w
join stage_prompt as p on {item}
join drawn as d on d.variant_no = w.variant_no and d.draw = coalesce(w.draw, 0)
