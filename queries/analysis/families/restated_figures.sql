-- Means that runs without samples published before a later statement took their place.
-- grain: one row per current run, metric, superseded run, statistic and source
-- columns:
--   run_id: id of the current run
--   started_at: start of the superseded run
select
    earlier.superseded_by as run_id, figure.metric_id, figure.value, figure.standard_error,
    figure.n, earlier.started_at
from run earlier
join published_score figure
    on figure.run_id = earlier.id and figure.benchmark_id = earlier.benchmark_id
where earlier.benchmark_id in (:benchmark_ids) and earlier.n_found = 0
    and earlier.superseded_by is not null and earlier.status <> 'invalidated'
    and figure.statistic in ('mean', 'pass@1', 'aggregate') and figure.perturbation = ''
    and figure.value is not null
order by earlier.superseded_by nulls last, figure.metric_id nulls last,
    case when earlier.started_at is null then 0 else 1 end, earlier.started_at nulls last,
    earlier.id nulls last,
    case when figure.statistic = 'aggregate' then 0 else 1 end, figure.statistic desc nulls last,
    figure.source_id desc nulls last
