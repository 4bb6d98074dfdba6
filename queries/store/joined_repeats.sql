-- New runs (from :first_run on) that joined an earlier one of their condition, from a source of
-- another path: repeats of it, or published figures beside samples, with a mean that both have.
-- grain: one row per new run, and metric where one of the two has figures only
select
    new_run.run_id, new_run.model, new_run.benchmark, old_run.run_id as earlier,
    (
        select min(source.path)
        from run_source join source on source.id = run_source.source_id
        where run_source.run_id = old_run.run_id
    ) as path,
    old_run.n_found > 0 and new_run.n_found > 0 and not exists (
        select 1 from run_source named
        where named.run_id = new_run.run_id and named.run_key is not null
    ) as has_nameless_samples,
    (select cast(marks as varchar) from run where id = new_run.run_id) as own_marks,
    (select cast(marks as varchar) from run where id = old_run.run_id) as earlier_marks,
    metric.name as metric, figure.value as published, figure.run_id as published_by,
    summary.estimate, summary.run_id as estimated_from, summary.n_prompts
from run_current new_run
join (
    select
        condition_key, min(run_id) as first_id,
        max(case when n_found = 0 then run_id end) as figures_id,
        min(case when n_found > 0 then run_id end) as samples_id
    from run_current
    group by condition_key
) held on held.condition_key = new_run.condition_key and held.first_id < new_run.run_id
join run_current old_run on old_run.run_id = held.first_id
left join published_figure figure
    on figure.run_id = held.figures_id and figure.statistic = 'mean' and figure.perturbation = ''
    and (held.samples_id = new_run.run_id or held.figures_id = new_run.run_id)
left join score_summary summary
    on summary.run_id = held.samples_id and summary.metric_id = figure.metric_id
left join metric on metric.id = figure.metric_id
where new_run.run_id >= :first_run
    and not exists (
        select 1
        from run_source mine
        join source my_source on my_source.id = mine.source_id
        join source their_source on their_source.path = my_source.path
        join run_source theirs on theirs.source_id = their_source.id
        where mine.run_id = new_run.run_id and theirs.run_id = old_run.run_id
    )
order by new_run.run_id, metric.name
