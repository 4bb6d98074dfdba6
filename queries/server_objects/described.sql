-- What a server says of the tables of a store, their columns, keys, indexes and comments, and of
-- the texts of its views, as who asks and where that one looks for names sees them.
-- grain: one row per table, column, key, index, comment or view
with ours as (
    select oid, relname::text as name, relkind
    from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'v')
)
select 'table' as kind, name, concat_ws(' ', current_user, current_setting('search_path')) as text
from ours
where relkind = 'r'
union all
select 'column', ours.name, concat_ws(
    ' ', a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid)
)
from ours
join pg_attribute a on a.attrelid = ours.oid and a.attnum > 0 and not a.attisdropped
left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
where ours.relkind = 'r'
union all
select 'key', ours.name, concat_ws(' ', c.conname, pg_get_constraintdef(c.oid))
from ours join pg_constraint c on c.conrelid = ours.oid
union all
select 'index', ours.name, pg_get_indexdef(i.indexrelid)
from ours join pg_index i on i.indrelid = ours.oid
union all
select 'comment', ours.name, concat_ws(' ', c.objsubid, c.description)
from ours join pg_description c on c.objoid = ours.oid and c.classoid = 'pg_class'::regclass
where ours.relkind = 'r'
union all
select 'view', name, pg_get_viewdef(oid)
from ours
where relkind = 'v'
