-- Roles that were given the right to read the store.
-- grain: one row per role
-- columns:
--   grantee: name of the role
select distinct pg_get_userbyid(a.grantee) as grantee
from pg_class as c
cross join lateral aclexplode(c.relacl) as a
where c.oid = to_regclass('run') and a.privilege_type = 'SELECT'
  and a.grantee not in (0, c.relowner)
order by 1
