-- Staged rows that go, as another of the same key is kept, and whether they say something else.
-- grain: a row of a dump
-- placeholder: values column -- text of all that a row says
-- placeholder: key column -- what makes rows duplicates
-- placeholder: order column -- the row to keep comes first
-- placeholder: table table -- of staged rows
select r, said is distinct from kept as is_other
from (
    select r, {values} as said,
        first_value({values}) over (partition by {key} order by {order}) as kept,
        row_number() over (partition by {key} order by {order}) as number
    from {table}
) as every_row
where number > 1
