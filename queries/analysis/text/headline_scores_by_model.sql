-- Mean headline score of models on prompts, on a scale from 0 to 1.
-- grain: one row per prompt and model
select fact.prompt_id, run_current.model,
    sum(fact.n_draws * (fact.value - coalesce(described.low, 0))
        / (coalesce(described.high, 1) - coalesce(described.low, 0)))
        / sum(fact.n_draws) as value
from prompt_score fact
join run_current on run_current.run_id = fact.run_id
join benchmark_metric described on described.benchmark_id = run_current.benchmark_id
    and described.metric_id = fact.metric_id
join headline_metric on headline_metric.benchmark_id = run_current.benchmark_id
    and headline_metric.metric_id = fact.metric_id
where fact.perturbation = '' and fact.value is not null and fact.n_draws > 0
    and headline_metric.is_default
    and (described.kind = 'binary'
        or (described.low is not null and described.high > described.low))
    and fact.prompt_id in (:prompt_ids)
group by fact.prompt_id, run_current.model
