-- Tables, views and functions of a store that is a file, with the text of views; and columns that
-- give a value by themselves, with their names as text.
-- grain: one row per table, view, overload of a function or such column
select table_name as name, 'table' as kind, '' as text
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
union all
select table_name, 'default', column_name
from duckdb_columns()
where not internal and database_name = current_database() and schema_name = 'main'
    and column_default is not null
