-- Tables, views and functions of a store that is a file, with the text of views; of tables whether
-- a column may give a value by itself (their columns are listed only then: that takes long).
-- grain: one row per table, view or overload of a function
select table_name as name, 'table' as kind,
    case when regexp_matches(sql, '\b(DEFAULT|GENERATED)\b') then 'gives values' else '' end as text
from duckdb_tables()
where not internal and database_name = current_database() and schema_name = 'main'
union all
select view_name, 'view', sql
from duckdb_views()
where not internal and database_name = current_database() and schema_name = 'main'
union all
select function_name, 'function', ''
from duckdb_functions()
where not internal and database_name = current_database()
