-- What the samples of runs from :first on have in all, of metrics of which figures are published:
-- means without weights, in their headline form.
-- grain: one row per run and metric
select
    fact.run_id, fact.metric_id, described.kind, described.low, described.high,
    sum(fact.value) as total,
    sum(coalesce(fact.value, 0) * fact.n_scored / nullif(fact.n_scored + fact.n_unscored, 0))
        as as_wrong,
    count(fact.value) as n_scored, count(*) as n_prompts
from prompt_score fact
join run_current r on r.run_id = fact.run_id
join metric on metric.id = fact.metric_id
join benchmark_metric described
    on described.benchmark_id = r.benchmark_id and described.metric_id = fact.metric_id
where fact.run_id >= :first and fact.perturbation = '' and metric.link = 'identity'
    and r.status = 'complete'
group by
    fact.run_id, fact.metric_id, described.kind, described.low, described.high, r.n_requested
having coalesce(min(fact.weight), 1) = 1 and coalesce(max(fact.weight), 1) = 1
    and count(*) >= coalesce(r.n_requested, 0)
