-- Prompts that the store does not hold yet, numbered in the order of the dump.
-- grain: one row per benchmark, split, key and occurrence
create or replace temp table new_prompt as
with fresh as (
    select h.benchmark_id, h.split, i.key, i.occurrence, arg_min(i.key_kind, i.first_r) as key_kind,
        min(i.first_r) as first_r
    from stage_prompt as p
    join stage_item as i on i.run = p.run and i.item = p.item and i.key_no = p.key_no
    join stage_run as h on h.run = i.run
    where p.prompt_id is null
    group by h.benchmark_id, h.split, i.key, i.occurrence
)
select *, row_number() over (order by first_r, benchmark_id, split, key, occurrence) as number
from fresh
