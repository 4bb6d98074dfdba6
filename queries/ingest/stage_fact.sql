-- Every staged row with the ids of its prompt and variant and the number of its draw.
-- grain: one row per staged row; r is its number
create or replace temp table stage_fact as
select w.r, w.run, i.occurrence, w.key, w.item, p.id as prompt_id, v.variant_id,
    coalesce(w.draw, 0) as draw, w.perturbation, w.fewshot_draw, w.template
from stage_row as w
join stage_item as i on i.run = w.run and i.item = w.item and i.key = w.key
join known_prompt as p on p.benchmark_id = i.benchmark_id and p.split = i.split
    and p.key = i.key and p.occurrence = i.occurrence
join variant_id as v on v.perturbation = w.perturbation and v.fewshot_draw = w.fewshot_draw
    and v.template = w.template
