-- What a store that is a file says of its tables, their indexes and comments, and which views it
-- has.
-- grain: one row per table, index, comment of a column, or view
select 'table' as kind, table_name as name, concat_ws(' ', sql, comment) as text
from duckdb_tables()
where not internal and database_name = current_database() and schema_name = 'main'
union all
select 'index', table_name, concat_ws(' ', sql, comment)
from duckdb_indexes()
where database_name = current_database() and schema_name = 'main'
union all
select 'comment', table_name, concat_ws(' ', column_name, comment)
from duckdb_columns()
where not internal and database_name = current_database() and schema_name = 'main'
    and comment is not null
union all
select 'view', view_name, ''
from duckdb_views()
where not internal and database_name = current_database() and schema_name = 'main'
