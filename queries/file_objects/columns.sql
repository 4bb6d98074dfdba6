-- Columns of one table of a store that is a file, in their order, as the engine has them.
-- grain: one row per column
select column_name, data_type, is_nullable, column_default, comment
from duckdb_columns()
where database_name = current_database() and schema_name = 'main' and table_name = :table_name
order by column_index
