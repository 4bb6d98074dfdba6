-- New runs (from :first_run on) that joined an earlier one of their condition, from a source of
-- another path: repeats of it, or published figures beside samples, with a mean that both have.
-- grain: one row per new run, and metric where one of the two has figures only
select
    new_run.id as run_id, old_run.id as earlier, model.name as model, benchmark.name as benchmark,
    (
        select min(source.path)
        from run_source join source on source.id = run_source.source_id
        where run_source.run_id = old_run.id
    ) as path,
    metric.name as metric, figure.value as published, figure.run_id as published_by,
    old_run.n_found > 0 and new_run.n_found > 0 as has_samples,
    summary.estimate, summary.run_id as estimated_from, summary.n_prompts
from run new_run
join (
    select
        run.condition_key, min(run.id) as first_id,
        max(case when run.n_found = 0 then run.id end) as figures_id,
        min(case when run.n_found > 0 then run.id end) as samples_id
    from run
    where run.superseded_by is null and run.status <> 'invalidated'
    group by run.condition_key
) held on held.condition_key = new_run.condition_key and held.first_id < new_run.id
join run old_run on old_run.id = held.first_id
join benchmark on benchmark.id = new_run.benchmark_id
join checkpoint on checkpoint.id = new_run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
left join published_score figure
    on figure.run_id = held.figures_id and figure.statistic = 'mean' and figure.perturbation = ''
    and (held.samples_id = new_run.id or held.figures_id = new_run.id)
left join score_summary summary
    on summary.run_id = held.samples_id and summary.metric_id = figure.metric_id
left join metric on metric.id = figure.metric_id
where new_run.id >= :first_run and new_run.superseded_by is null and new_run.status <> 'invalidated'
    and not exists (
        select 1
        from run_source mine
        join source my_source on my_source.id = mine.source_id
        join source their_source on their_source.path = my_source.path
        join run_source theirs on theirs.source_id = their_source.id
        where mine.run_id = new_run.id and theirs.run_id = old_run.id
    )
order by new_run.id, metric.name
