-- Prompts that the store does not hold yet, numbered in the order of the dump.
-- grain: one row per benchmark, split, key and occurrence
create or replace temp table new_prompt as
with fresh as (
    select h.benchmark_id, h.split, i.key, i.occurrence, arg_min(i.key_kind, i.first_r) as key_kind,
        min(i.first_r) as first_r
    from stage_item as i
    join stage_run as h on h.run = i.run
    anti join known_prompt as p on p.benchmark_id = h.benchmark_id and p.split = h.split
        and p.key = i.key and p.occurrence = i.occurrence
    group by h.benchmark_id, h.split, i.key, i.occurrence
)
select *, row_number() over (order by first_r, benchmark_id, split, key, occurrence) as number
from fresh
