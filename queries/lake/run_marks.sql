-- What is stored of each run, told so that it differs wherever the facts of the run do: what a run
-- has was loaded in one transaction, and stays as it is, but that its transcripts may come later.
-- grain: one row per run
select run.id as unit, run.condition_key, run.content_digest, run.n_generations, run.n_choices,
    run.n_scores, min(source.claimed_at) as first_claimed, max(way.n) as n_transcripts
from run
left join (select run_id, count(*) as n from transcript group by run_id) as way
    on way.run_id = run.id
left join run_source on run_source.run_id = run.id
left join source on source.id = run_source.source_id
group by run.id, run.condition_key, run.content_digest, run.n_generations, run.n_choices,
    run.n_scores
order by run.id
