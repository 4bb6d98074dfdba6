-- Sources that were refused, or not read to their end, and those with rows that could not be taken.
-- One whose runs have all been replaced, or whose file was read again once it was mended, has
-- nothing left to be mended.
-- grain: one row per source, at most :most of them
with first_row as (
    select source_id, place, found, expected,
        row_number() over (
            partition by source_id order by place nulls last, found nulls last
        ) as number
    from rejection
),
complaint as (
    select source.id, source.path, source.format, source.state, source.n_rejected, source.notes
    from source
    join ingest_log ledger on ledger.source_id = source.id
    where (source.state <> 'loaded' or source.n_rejected > 0)
        and not (coalesce(source.n_runs, 0) > 0 and ledger.n_current = 0)
),
read_again as (
    select complaint.id
    from complaint
    join source newer on newer.path = complaint.path and newer.format = complaint.format
        and newer.id > complaint.id
    left join run_source held on held.source_id = complaint.id
    left join run on run.id = held.run_id
    left join run_source other on other.source_id = newer.id
        and other.run_id = coalesce(run.superseded_by, run.id)
    where complaint.state <> 'loaded' or other.run_id is not null
)
select complaint.id as source_id, complaint.path, complaint.format, complaint.state,
    complaint.n_rejected, complaint.notes, first_row.place, first_row.found, first_row.expected,
    count(*) over () as n_all
from complaint
left join first_row on first_row.source_id = complaint.id and first_row.number = 1
where complaint.id not in (select id from read_again)
order by complaint.id desc nulls last
limit :most
