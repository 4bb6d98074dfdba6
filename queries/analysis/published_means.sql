-- Means that runs published of their own benchmark, those of the harness before aggregates.
-- grain: one row per run, metric, statistic and source
select figure.run_id, figure.metric_id, figure.value, figure.standard_error, figure.n
from published_figure figure
join run on run.id = figure.run_id and run.benchmark_id = figure.benchmark_id
where figure.statistic in ('mean', 'pass@1', 'aggregate') and figure.perturbation = ''
    and figure.value is not null and figure.run_id in (:run_ids)
order by figure.run_id, case when figure.statistic = 'aggregate' then 1 else 0 end,
    figure.statistic, figure.source_id
