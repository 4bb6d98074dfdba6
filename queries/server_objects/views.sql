-- Views of a store on a server, and temporary ones of this session under the same names, with
-- their text.
-- grain: one row per view
select relname::text as name, relnamespace = pg_my_temp_schema() as is_temporary,
    pg_get_viewdef(oid) as text
from pg_class
where relkind = 'v'
    and relnamespace in (cast(:schema as text)::regnamespace, pg_my_temp_schema())
