-- Sources of scans that gave some runs scores of some metrics.
-- grain: one row per source
select source.path, source.format, source.importer_version, source.sha256, source.bytes
from source
where source.id in (
    select found.source_id
    from transcript way
    join scan_value found on found.uuid = way.uuid
    join metric on metric.id = found.metric_id
    where way.run_id in (:run_ids)
        and metric.name || case when metric.filter = '' then '' else ',' || metric.filter end
            in (:metrics)
    union
    select found.source_id
    from transcript way
    join scan_value found on found.place = way.place
    join metric on metric.id = found.metric_id
    where way.run_id in (:run_ids)
        and metric.name || case when metric.filter = '' then '' else ',' || metric.filter end
            in (:metrics))
