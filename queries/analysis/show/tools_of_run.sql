-- The tools that a run called, most called first.
-- grain: one row per tool
select * from tool_use where run_id = :run order by n_calls desc nulls last, tool nulls last
