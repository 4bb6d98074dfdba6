-- Columns of a store that is a file which give a value by themselves, with their names as text.
-- grain: one row per column
select table_name as name, 'default' as kind, column_name as text
from duckdb_columns()
where not internal and database_name = current_database() and schema_name = 'main'
    and column_default is not null
order by table_name, column_name
