-- Means that suites published for groups of runs.
-- grain: one row per group of runs, metric and source
select published_score.run_group_id, published_score.value, published_score.standard_error,
    metric.name, metric.filter
from published_score
join metric on metric.id = published_score.metric_id
where published_score.statistic in ('mean', 'pass@1') and published_score.perturbation = ''
    and published_score.value is not null and published_score.benchmark_id in (:benchmark_ids)
order by published_score.run_group_id, published_score.source_id
