-- Sources that runs came from, and those named.
-- grain: one row per source
select source.path, source.format, source.importer_version, source.sha256, source.bytes
from source
where source.id in (:source_ids)
    or source.id in (
        select run_source.source_id
        from run_source
        where run_source.run_id in (:run_ids))
