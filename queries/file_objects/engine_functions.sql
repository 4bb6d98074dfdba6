-- Which names are those of functions of the engine itself.
-- grain: one row per name
select distinct function_name as name
from duckdb_functions()
where internal and function_name in (:names)
order by 1
