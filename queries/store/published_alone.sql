-- Published figures of the runs from :first on, none of which has samples: as in
-- published_against_recomputed, which takes longer to plan than a small load.
-- grain: one row per run, metric and statistic
select
    figure.run_id, current_run.model, current_run.benchmark, metric.name as metric,
    metric.filter as metric_filter, figure.statistic, figure.value as published,
    nullif(figure.value, figure.value) as recomputed, 'not_recomputable' as verdict
from published_figure as figure
join run_current as current_run on current_run.run_id = figure.run_id
join metric on metric.id = figure.metric_id
where figure.run_id >= :first
order by figure.run_id, metric.name, figure.statistic
