-- Prompts that the store does not hold yet, numbered in the order of the dump.
-- grain: one row per benchmark, split, key and occurrence
create or replace temp table new_prompt as
with fresh as (
    select benchmark_id, split, key, occurrence, any_value(key_kind) as key_kind,
        min(first_r) as first_r
    from stage_item as i
    where not exists (
        select 1 from known_prompt as p
        where p.benchmark_id = i.benchmark_id and p.split = i.split and p.key = i.key
            and p.occurrence = i.occurrence
    )
    group by benchmark_id, split, key, occurrence
)
select *, row_number() over (order by first_r, benchmark_id, split, key, occurrence) as number
from fresh
