-- Means that runs published, those of the harness before aggregates.
-- grain: one row per run, metric, statistic and source
select run_id, metric_id, value, standard_error, n
from published_score
where statistic in ('mean', 'pass@1', 'aggregate') and perturbation = '' and value is not null
    and run_id in (:run_ids)
order by run_id, case when statistic = 'aggregate' then 1 else 0 end, statistic, source_id
