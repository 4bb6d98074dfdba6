-- Loaded sources, with what they were read by.
-- grain: one row per source
select id, path, format, importer_version, cast(settings as varchar) as settings
from source
where state = 'loaded'
order by id
