-- The id of each item's prompt, null where the store does not hold it yet; `first_r` is its first
-- row. The outer join has the prompts hashed once; inner ones are reordered, which takes twice as
-- long.
-- grain: one row per run, item and content
create or replace temp table stage_prompt as
select i.run, i.item, i.key_no, i.key_hash, i.first_r, p.id as prompt_id
from stage_item as i
join stage_run as h on h.run = i.run
left join known_prompt as p on p.benchmark_id = h.benchmark_id and p.split = h.split
    and p.key = i.key and p.occurrence = i.occurrence
