-- Rows without an id in runs of which other rows have one. By its place such a row could be taken
-- for that other row.
-- grain: one row per run that has such rows; r is the number of the first
select run, min(r) filter (where not has_id) as r,
    count(*) filter (where not has_id) as n, count(*) as n_rows
from stage_row
where key_no < 0
group by run
having bool_or(has_id) and not bool_and(has_id)
order by r
