-- Has indexes of ranges look at new rows, which they do not know before a vacuum comes by,
-- when each question on a run reads all rows of all runs. Only who owns them may.
-- grain: one row per index
select brin_summarize_new_values(kept.oid) as n_ranges
from pg_class as kept
join pg_am on pg_am.oid = kept.relam and pg_am.amname = 'brin'
join pg_namespace
    on pg_namespace.oid = kept.relnamespace and pg_namespace.nspname = current_schema()
where kept.relkind = 'i' and pg_has_role(kept.relowner, 'usage')
