-- Sources that runs came from.
-- grain: one row per run and source
-- placeholder: here condition -- which runs
select source.path, source.format, source.importer_version, source.sha256, source.bytes
from run_source
join source on source.id = run_source.source_id
where {here}
