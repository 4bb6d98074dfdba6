-- Figures that a run published.
-- grain: one row per metric, statistic and perturbation
select distinct metric.id as metric_id, metric.name as metric, metric.filter, fact.statistic,
    fact.perturbation, fact.split, fact.value, fact.standard_error, fact.n, fact.raw
from published_score fact
join metric on metric.id = fact.metric_id
where fact.run_id = :run
order by metric.id nulls last, fact.statistic nulls last, fact.perturbation nulls last
