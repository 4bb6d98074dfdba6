-- Sources that runs came from.
-- grain: one row per run and source
select source.path, source.format, source.importer_version, source.sha256, source.bytes
from run_source
join source on source.id = run_source.source_id
where run_source.run_id in (:run_ids)
