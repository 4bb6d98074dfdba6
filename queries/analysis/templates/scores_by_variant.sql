-- Scores of prompts by variant: means over draws and repeats of a condition.
-- grain: one row per condition, prompt (that its link stands for) and variant
select condition_key, prompt, template, fewshot_draw, perturbation, avg(value) as value
from (
  select run.condition_key, coalesce(prompt_link.canonical_prompt_id, score.prompt_id) as prompt,
    prompt_variant.template, prompt_variant.fewshot_draw, prompt_variant.perturbation,
    score.value
  from score
  join run on run.id = score.run_id
  join prompt_variant on prompt_variant.id = score.variant_id
  left join prompt_link on prompt_link.prompt_id = score.prompt_id
  where score.value is not null and score.draw >= 0
    and score.metric_id in (:metric_ids) and score.run_id in (:run_ids)
) asked
group by condition_key, prompt, template, fewshot_draw, perturbation
order by condition_key nulls last, prompt nulls last, template nulls last,
  fewshot_draw nulls last, perturbation nulls last
