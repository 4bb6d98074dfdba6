-- What a role could use beyond reading the tables that it was given: itself, or by SET ROLE.
-- grain: one row per power
-- parameter: role text -- name of the role
-- columns:
--   power: name of a role with the power, or an attribute
select case when rolsuper then 'superuser' when rolreplication then 'replication'
    when rolbypassrls then 'bypassrls' else rolname end as power
from pg_roles
where pg_has_role(cast(:role as name), oid, 'member')
  and (rolsuper or rolreplication or rolbypassrls
    or rolname in ('pg_read_all_data', 'pg_write_all_data', 'pg_read_server_files',
      'pg_write_server_files', 'pg_execute_server_program', 'pg_signal_backend', 'pg_maintain',
      'pg_create_subscription'))
group by 1
order by 1
