-- Scores of a run by prompt.
-- grain: one row per prompt, metric and perturbation
select prompt.id as prompt_id, prompt.key, prompt.occurrence, prompt.tool_id, prompt.text,
    metric.name as metric, metric.filter as metric_filter, fact.perturbation, fact.value,
    fact.n_draws, fact.n_unscored
from prompt_score fact
join prompt on prompt.id = fact.prompt_id
join metric on metric.id = fact.metric_id
where fact.run_id = :run
order by prompt.id nulls last, metric.name nulls last, metric.filter nulls last,
    fact.perturbation nulls last
