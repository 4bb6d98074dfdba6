-- Number rows of the same prompt and variant as draws, in the order of the dump.
create or replace temp table stage_row as
select * replace (
    coalesce(
        draw,
        cast(row_number() over (partition by run, item, key_no, variant_id order by r) - 1
            as integer)
    ) as draw
)
from stage_row
