-- Means that runs publish beside samples of the same condition, with the means of those samples.
-- grain: one row per run with figures, run with samples, and metric
select
    figure.run_id as published_by, metric.name as metric, figure.value as published,
    summary.run_id as estimated_from, summary.estimate, summary.n_prompts
from published_figure figure
join score_summary summary on summary.metric_id = figure.metric_id
join metric on metric.id = figure.metric_id
where figure.run_id in (:figures_ids) and summary.run_id in (:samples_ids)
    and figure.statistic = 'mean' and figure.perturbation = ''
order by published_by, estimated_from, metric.name
