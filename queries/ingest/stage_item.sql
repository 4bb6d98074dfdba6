-- The prompts of each run. Different items with equal content are numbered by `occurrence`, which
-- needs sorting: so only they are. `key_hash` is a 64-bit hash of the natural key.
-- grain: one row per run, item and content
create or replace table stage_item as
with item as (
    select run, item, key_no, bool_or(has_id) as has_id, min(position) as position,
        min(r) as first_r
    from stage_row
    group by run, item, key_no
),
shared as (
    select run, key_no from item where key_no >= 0 group by run, key_no having count(*) > 1
),
numbered as (
    select *, row_number() over (partition by run, key_no order by position, item) - 1
        as occurrence
    from item semi join shared using (run, key_no)
    union all
    select *, 0 from item anti join shared using (run, key_no)
)
select n.run, n.item, n.key_no, n.first_r,
    coalesce(k.key, n.item) as key,
    case when k.key is not null then 'content' when n.has_id then 'id' else 'position' end
        as key_kind,
    cast(n.occurrence as integer) as occurrence,
    case when n.occurrence = 0 and k.key_hash is not null then k.key_hash
        else hash_64(coalesce(k.key, n.item) || chr(31) || n.occurrence) end as key_hash
from numbered as n
left join known_key as k on k.key_no = n.key_no
