-- How many staged rows say something else than the one of the same key that is kept.
-- grain: one row
-- placeholder: values column -- text of all that a row says
-- placeholder: key column -- what makes rows duplicates
-- placeholder: order column -- the row to keep comes first
-- placeholder: table table -- of staged rows
select count(*)
from (
    select {values} as said,
        first_value({values}) over (partition by {key} order by {order}) as kept
    from {table}
) as every_row
where said is distinct from kept
