-- What is stored of each scan: its values stay as they are.
-- grain: one row per source of scans
select found.source_id as unit, source.sha256, count(*) as n
from scan_value found
join source on source.id = found.source_id
group by found.source_id, source.sha256
order by found.source_id
