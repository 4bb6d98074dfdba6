-- Scores of unperturbed prompts by draw of their few-shot examples.
-- grain: one row per run, prompt and few-shot draw
select fact.run_id, fact.prompt_id, variant.fewshot_draw, avg(fact.value) as value
from score fact
join prompt_variant variant on variant.id = fact.variant_id
where variant.perturbation = '' and variant.fewshot_draw <> '' and fact.value is not null
    and fact.metric_id in (:metric_ids) and fact.run_id in (:run_ids)
group by fact.run_id, fact.prompt_id, variant.fewshot_draw
order by fact.run_id, fact.prompt_id, variant.fewshot_draw
