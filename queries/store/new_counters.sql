-- Reserves ids of tables that had no counter when it was looked for; another process may have made
-- one meanwhile, which then goes on from where it is.
-- grain: one row per table; next_id is what follows the last id that is reserved
-- placeholder: counters column -- a table's name and next id in brackets, with commas between them
insert into id_counter (table_name, next_id)
values {counters}
on conflict (table_name) do update
set next_id = id_counter.next_id + excluded.next_id - 1
returning table_name, next_id
