-- What is stored of each run, told so that it differs wherever the facts of the run do: what a run
-- has was loaded in one transaction, and stays as it is, but that its transcripts may come later,
-- and scores of scanners come and go with the sources of these, of which no number comes twice.
-- grain: one row per run
with scanned as (
    select run_id, count(source_id) as n_scans, sum(source_id) as sum_of_scans,
        max(source_id) as last_scan
    from (
        select way.run_id, found.source_id
        from transcript way
        join scan_value found on found.uuid = way.uuid
        union
        select way.run_id, found.source_id
        from transcript way
        join scan_value found on found.place = way.place
    ) as pair
    group by run_id
)
select run.id as unit, run.condition_key, run.content_digest, run.n_generations, run.n_choices,
    run.n_scores, min(source.claimed_at) as first_claimed, max(way.n) as n_transcripts,
    max(scanned.n_scans) as n_scans, cast(max(scanned.sum_of_scans) as bigint) as sum_of_scans,
    max(scanned.last_scan) as last_scan
from run
left join (select run_id, count(*) as n from transcript group by run_id) as way
    on way.run_id = run.id
left join scanned on scanned.run_id = run.id
left join run_source on run_source.run_id = run.id
left join source on source.id = run_source.source_id
group by run.id, run.condition_key, run.content_digest, run.n_generations, run.n_choices,
    run.n_scores
order by run.id
