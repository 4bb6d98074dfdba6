-- Tables and views that a role cannot read although it was to be let in.
-- grain: one row per role and table
-- columns:
--   role: name of the role
--   table: name of the table or view
select r.role, t.name as "table"
from unnest(cast(:roles as text[])) as r(role)
cross join unnest(cast(:tables as text[])) as t(name)
where not has_table_privilege(r.role, to_regclass(quote_ident(t.name)), 'select')
order by r.role, t.name
