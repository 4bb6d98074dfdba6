-- Scores of a run on a block of prompts.
-- grain: one row per prompt, variant, draw and metric
select fact.prompt_id, variant.perturbation, variant.fewshot_draw, variant.template, fact.draw,
    metric.id as metric_id, metric.name as metric, metric.filter,
    fact.value, fact.weight, fact.n_draws, fact.raw, fact.status, fact.origin
from score fact
join metric on metric.id = fact.metric_id
join prompt_variant variant on variant.id = fact.variant_id
where fact.run_id = :run and fact.prompt_id between :first and :last
order by fact.prompt_id nulls last, fact.variant_id nulls last, fact.draw nulls last,
    metric.id nulls last
