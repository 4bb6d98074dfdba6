-- Scores of a run's responses to a prompt.
-- grain: one row per variant, draw and metric
select prompt_variant.perturbation, fact.draw, metric.name as metric,
    metric.filter as metric_filter, scorer.name as scorer, scorer.kind as scorer_kind,
    scorer.judge_model, fact.value, fact.weight, fact.n_draws, fact.status, fact.origin, fact.raw
from score fact
join prompt_variant on prompt_variant.id = fact.variant_id
join metric on metric.id = fact.metric_id
join scorer on scorer.id = metric.scorer_id
where fact.run_id = :run and fact.prompt_id = :prompt
order by prompt_variant.perturbation nulls last, fact.draw nulls last, metric.name nulls last,
    metric.filter nulls last
