-- Runs that no view shows, and those that cover fewer prompts than they say; with :replaced the
-- runs that others have taken the place of, whatever was wrong with them, else all but these.
-- grain: one row per run, at most :most of them
select run.id as run_id, model.name as model, benchmark.name as benchmark, run.status,
    run.status_reason as reason, run.superseded_by, run.n_found, run.n_requested,
    count(*) over () as n_all
from run
join checkpoint on checkpoint.id = run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
join benchmark on benchmark.id = run.benchmark_id
where case when run.superseded_by is not null then 1 else 0 end = :replaced
    and (run.status <> 'complete' or run.superseded_by is not null)
order by run.id desc nulls last
limit :most
