-- Functions that anybody may call and that act with the powers of their owner.
-- grain: one row per function
-- parameter: role text -- who calls it
-- columns:
--   function: name with types of its arguments
--   owner: role whose powers it has
select cast(p.oid as regprocedure) as function, pg_get_userbyid(p.proowner) as owner
from pg_proc as p
where p.prosecdef
  and has_schema_privilege(:role, p.pronamespace, 'usage')
  and has_function_privilege(:role, p.oid, 'execute')
order by 1
