-- What became of the values of some sources: how many belong to generations of stored runs, and how
-- many say the same or something else as a stored scan of another source.
-- grain: one row per source
with own as (
    select found.source_id, found.uuid, found.place, found.metric_id, found.value, found.raw,
        found.status, metric.scorer_id
    from scan_value found
    join metric on metric.id = found.metric_id
    where found.position = 0
        and found.source_id in (:sources)
),
known as (
    select own.uuid
    from own
    join transcript on transcript.uuid = own.uuid
    union
    select own.uuid
    from own
    join transcript on transcript.place = own.place
),
rival as (
    select own.source_id, own.uuid, own.metric_id,
        bool_or(other.value = own.value or (other.raw = own.raw and other.value is null))
            as is_same
    from own
    join scan_value other on other.uuid = own.uuid and other.metric_id = own.metric_id
        and other.position = 0 and other.source_id <> own.source_id
    where own.status not in ('error', 'refused') and other.status not in ('error', 'refused')
    group by own.source_id, own.uuid, own.metric_id
)
select own.source_id, count(*) as n_values, count(distinct own.scorer_id) as n_scanners,
    count(known.uuid) as n_joined, count(distinct known.uuid) as n_generations,
    count(*) filter (where rival.is_same) as n_same,
    count(*) filter (where not rival.is_same) as n_other
from own
left join known on known.uuid = own.uuid
left join rival on rival.source_id = own.source_id and rival.uuid = own.uuid
    and rival.metric_id = own.metric_id
group by own.source_id
order by own.source_id
