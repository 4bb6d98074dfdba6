-- Number the rows of one content in a run, where several may belong to one prompt: as draws of it
-- where a dump says so, else those of one draw, variant and metric as copies of the question, which
-- are told apart by place.
-- grain: one row per staged row; r is its number
create or replace table stage_row as
with alike as (
    select w.*, o.are_draws,
        row_number() over (
            partition by w.run, w.key_no, w.variant_no,
                case when not o.are_draws then w.draw end,
                case when o.by_metric
                    then concat_ws(chr(31), s.scores[1].metric, s.scores[1].filter) end
            order by w.r
        ) - 1 as copy
    from stage_row as w
    join stage_origin as o on o.run = w.run and o.belong_together
    join stage_sample as s on s.rowid = w.r
    where w.key_no >= 0
)
select
    r,
    run,
    first_value(item) over prompt as item,
    first_value(position) over prompt as position,
    key_no,
    has_id,
    variant_no,
    case when are_draws then cast(copy as integer) else draw end as draw,
    content,
    words
from alike
window prompt as (
    partition by run, key_no, case when not are_draws then copy end order by r
)
union all by name
select * from stage_row anti join alike using (r)
