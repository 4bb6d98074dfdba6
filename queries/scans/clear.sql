-- Removes from a table what is of the pairs of scanned_pair; of score only what scanners gave.
-- grain: one row per row of the table
-- placeholder: table table -- score, prompt_score, draw_score or run_metric
-- placeholder: condition condition -- on the table
delete from {table}
where run_id in (select run_id from scanned_pair)
    and exists (
        select 1 from scanned_pair pair
        where pair.run_id = {table}.run_id and pair.metric_id = {table}.metric_id
    )
    and {condition}
