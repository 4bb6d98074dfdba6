-- Sources whose load is under way, or died: harmless, nothing of them is stored; ingest again.
-- grain: one row per source
-- columns:
--   source_id: id of the source
--   path: where it lay
--   n: always 1
select id as source_id, path, 1 as n
from source
where state = 'loading'
order by id nulls last
