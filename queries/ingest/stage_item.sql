-- The prompts of each run. Different items with equal content are numbered by `occurrence`.
-- grain: one row per run and item
create or replace temp table stage_item as
with item as (
    select run, item, key, any_value(key_kind) as key_kind, min(position) as position,
        min(r) as first_r
    from stage_row
    group by run, item, key
)
select
    item.run, item.item, item.key, item.key_kind, item.first_r, h.benchmark_id, h.split,
    cast(
        row_number() over (partition by item.run, item.key order by item.position, item.item) - 1
        as integer
    ) as occurrence
from item
join stage_run as h on h.run = item.run
