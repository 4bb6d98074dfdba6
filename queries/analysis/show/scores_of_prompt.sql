-- Scores of a prompt by current run.
-- grain: one row per run, metric and perturbation
select r.run_id, r.model, metric.name as metric, metric.filter as metric_filter,
    fact.perturbation, fact.value, fact.n_draws, fact.n_unscored
from prompt_score fact
join run_current r on r.run_id = fact.run_id
join metric on metric.id = fact.metric_id
where fact.prompt_id = :prompt
order by metric.name nulls last, metric.filter nulls last, fact.perturbation nulls last,
    r.model nulls last, r.run_id nulls last
