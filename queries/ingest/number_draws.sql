-- Number rows of the same prompt and variant as draws, in the order of the dump.
-- grain: one row per staged row; r is its number
create or replace table stage_row as
select * replace (
    coalesce(
        draw,
        cast(row_number() over (partition by run, item, key_no, variant_no order by r) - 1
            as integer)
    ) as draw
)
from stage_row
