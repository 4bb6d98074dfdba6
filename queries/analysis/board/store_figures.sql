-- What samples of some models on some benchmarks have in all: metrics that are means without
-- weights, in their headline form.
-- grain: one row per run and metric
select
    r.run_id, r.model, r.benchmark, r.split, r.condition_key, r.status, r.n_requested,
    fact.metric_id, metric.name as metric, metric.filter as metric_filter, headline.is_default,
    described.kind, described.low, described.high,
    sum(fact.value) as total,
    sum(coalesce(fact.value, 0) * fact.n_scored / nullif(fact.n_scored + fact.n_unscored, 0))
        as as_wrong,
    count(fact.value) as n_scored, count(*) as n_prompts
from prompt_score fact
join run_current r on r.run_id = fact.run_id
join metric on metric.id = fact.metric_id
join headline_metric headline
    on headline.benchmark_id = r.benchmark_id and headline.metric_id = fact.metric_id
join benchmark_metric described
    on described.benchmark_id = r.benchmark_id and described.metric_id = fact.metric_id
where r.model in (:models) and r.benchmark in (:benchmarks) and fact.perturbation = ''
    and metric.link = 'identity'
group by
    r.run_id, r.model, r.benchmark, r.split, r.condition_key, r.status, r.n_requested,
    fact.metric_id, metric.name, metric.filter, headline.is_default,
    described.kind, described.low, described.high
having coalesce(min(fact.weight), 1) = 1 and coalesce(max(fact.weight), 1) = 1
order by r.run_id, metric.name, metric.filter
