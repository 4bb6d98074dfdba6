-- Which names are those of functions of the engine itself, which takes AVG for avg; in small
-- letters.
-- grain: one row per name
select distinct lower(function_name) as name
from duckdb_functions()
where internal and lower(function_name) in (:names)
order by 1
