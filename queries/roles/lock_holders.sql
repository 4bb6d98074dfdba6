-- Sessions that hold an advisory lock which this one waits for.
-- grain: one row per session
-- parameter: number integer -- the lock's number, or the first of its two
-- columns:
--   pid: process of the server
--   role: as whom it is logged in
--   application: what it says of itself; empty: nothing
--   can_write: whether the role may write to the store, or there is none yet
select distinct activity.pid, activity.usename as role, activity.application_name as application,
    coalesce(has_table_privilege(activity.usesysid, to_regclass('run'), 'insert'), true)
        as can_write
from pg_locks as held
join pg_stat_activity as activity on activity.pid = held.pid
where held.locktype = 'advisory' and held.granted and activity.datname = current_database()
  and held.database = activity.datid and held.pid <> pg_backend_pid()
  and ((held.objsubid = 2 and held.classid = cast(:number as oid))
    or (held.objsubid = 1 and held.classid = 0 and held.objid = cast(:number as oid)))
order by activity.pid
