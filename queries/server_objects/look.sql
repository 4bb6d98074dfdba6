-- What changes when a view of a store on a server is made anew, or means something else: the
-- server's own number, that of each relation, its columns in order, and of a view the number of its
-- rule with the transaction that wrote it, which no two transactions of a server share.
-- grain: one row per relation
select c.relname::text as name, s.system_identifier as server, c.oid::bigint as relation,
    (
        select string_agg(a.attname::text || ' ' || a.atttypid::text, ',' order by a.attnum)
        from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    ) as columns,
    (
        select string_agg(r.oid::text || ' ' || r.xmin::text, ',' order by r.oid)
        from pg_rewrite r
        where r.ev_class = c.oid
    ) as rules
from pg_class c
cross join pg_control_system() s
where c.relnamespace = current_schema()::regnamespace and c.relname in (:names)
order by c.relname
