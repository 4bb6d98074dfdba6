-- Keys of one table of a store that is a file: of one kind, primary or not.
-- grain: one row per key
select constraint_name, constraint_column_names
from duckdb_constraints()
where database_name = current_database() and schema_name = 'main' and table_name = :table_name
    and constraint_type = :kind
