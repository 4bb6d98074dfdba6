-- What scanners found, with the ids of their metrics. Where a scanner looked at parts of a
-- generation (each message, say), the generation gets the mean of its values as its score, or all
-- that was found together; the values of the parts are then items.
-- grain: one row per source, generation, metric and position
with staged as (
    select m.source_id, m.scan_id, coalesce(s.uuid, s.place) as uuid, s.place, m.metric_id,
        m.unit, m.higher_is_better, s.r, s.position, s.label, s.value, s.raw, s.status,
        s.scanned_at,
        count(*) filter (where s.position = 0) over of_one as n_values
    from stage_scan as s
    join scan_metric as m on m.part = s.part and m.metric = s.metric
    window of_one as (partition by m.source_id, m.metric_id, coalesce(s.uuid, s.place))
),
item as (
    select *, cast(row_number() over (
        partition by source_id, metric_id, uuid order by r, position
    ) as integer) as place_of_item
    from staged
    where position > 0 or (n_values > 1 and unit <> 'items')
),
whole as (
    select source_id, scan_id, uuid, max(place) as place, metric_id, higher_is_better,
        any_value(label) as label,
        case when unit = 'items' then sum(value) else avg(value) end as value,
        case when count(value) = 0 then min(raw) end as raw,
        case when count(value) > 0 then 'scored' else min(status) end as status,
        max(scanned_at) as scanned_at
    from staged
    where n_values > 1 and position = 0
    group by source_id, scan_id, uuid, metric_id, higher_is_better, unit
)
select source_id, scan_id, uuid, place, metric_id, position, label, value, raw, status,
    higher_is_better, scanned_at
from staged
where n_values = 1 and position = 0
union all by name
select source_id, scan_id, uuid, place, metric_id, 0 as position, label, value, raw, status,
    higher_is_better, scanned_at
from whole
union all by name
select source_id, scan_id, uuid, place, metric_id, place_of_item as position, label, value, raw,
    status, higher_is_better, scanned_at
from item
order by source_id, metric_id, uuid, position
