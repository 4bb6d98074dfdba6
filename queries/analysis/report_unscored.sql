-- How many samples of current runs have no score, and why.
-- grain: one row per run, metric and status
select r.benchmark, r.model, fact.run_id, metric.name as metric, metric.filter as metric_filter,
    fact.status, count(*) as n_samples
from score fact
join run_current r on r.run_id = fact.run_id
join metric on metric.id = fact.metric_id
where fact.value is null
group by r.benchmark, r.model, fact.run_id, metric.name, metric.filter, fact.status
order by r.benchmark nulls last, r.model nulls last, fact.run_id nulls last,
    metric.name nulls last, metric.filter nulls last, fact.status nulls last
