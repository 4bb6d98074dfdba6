-- Tables, views, functions and operators in the schema of a store on a server, and what its tables
-- have that changes what is written or read: triggers, rules, columns that give a value by
-- themselves, tables that inherit from them, policies. Functions and operators count that are
-- called like one of the server's own: a call with other types could mean them.
-- grain: one row per object
select relname::text as name, '' as text,
    case relkind when 'v' then 'view' when 'r' then 'table' else 'other' end as kind
from pg_class
where relnamespace = current_schema()::regnamespace and relkind in ('r', 'v', 'm', 'f', 'p')
union all
select p.proname::text, '', 'function'
from pg_proc p
where p.pronamespace = current_schema()::regnamespace
    and not exists (select 1 from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    and exists (
        select 1 from pg_proc own
        where own.pronamespace = 'pg_catalog'::regnamespace and own.proname = p.proname
    )
union all
select c.relname::text, t.tgname::text, 'trigger'
from pg_trigger t join pg_class c on c.oid = t.tgrelid
where not t.tgisinternal and c.relnamespace = current_schema()::regnamespace
union all
select c.relname::text, r.rulename::text, 'rule'
from pg_rewrite r join pg_class c on c.oid = r.ev_class
where r.rulename <> '_RETURN' and c.relnamespace = current_schema()::regnamespace
union all
select c.relname::text, a.attname::text, 'default'
from pg_attrdef d
join pg_class c on c.oid = d.adrelid
join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
where c.relnamespace = current_schema()::regnamespace
union all
select c.relname::text, part.relname::text, 'child'
from pg_inherits i
join pg_class c on c.oid = i.inhparent
join pg_class part on part.oid = i.inhrelid
where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
union all
select c.relname::text, p.polname::text, 'policy'
from pg_policy p join pg_class c on c.oid = p.polrelid
where c.relnamespace = current_schema()::regnamespace
union all
select o.oprname::text, '', 'operator'
from pg_operator o
where o.oprnamespace = current_schema()::regnamespace
    and not exists (select 1 from pg_depend d where d.objid = o.oid and d.deptype = 'e')
    and exists (
        select 1 from pg_operator own
        where own.oprnamespace = 'pg_catalog'::regnamespace and own.oprname = o.oprname
    )
