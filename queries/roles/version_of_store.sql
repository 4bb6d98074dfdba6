-- What differs between two states of a store on a server: how many rows were ever written, changed
-- or deleted, as the server counts them for each table; and, since a replica does not count, what
-- was loaded and refreshed.
-- grain: one row
select
    (
        select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)
        from pg_stat_user_tables
        where schemaname = current_schema()
    ) as touched,
    (select count(*) || '/' || coalesce(max(id), 0) from source) as sources,
    (select count(*) || '/' || coalesce(max(id), 0) from run) as runs,
    (select count(*) || '/' || coalesce(max(id), 0) from refresh) as refreshes
