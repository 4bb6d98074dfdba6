-- Sources that were refused, or not read to their end, and those with rows that could not be taken.
-- grain: one row per source, at most :most of them
with first_row as (
    select source_id, place, found, expected,
        row_number() over (
            partition by source_id order by place nulls last, found nulls last
        ) as number
    from rejection
)
select source.id as source_id, source.path, source.format, source.state, source.n_rejected,
    source.notes, first_row.place, first_row.found, first_row.expected,
    count(*) over () as n_all
from source
left join first_row on first_row.source_id = source.id and first_row.number = 1
where source.state <> 'loaded' or source.n_rejected > 0
order by source.id desc nulls last
limit :most
