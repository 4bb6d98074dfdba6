-- Texts of the draws of unperturbed prompts.
-- grain: one row per prompt, run and draw
-- placeholder: column column -- the text: an extracted answer or a response
-- placeholder: join join -- to the table of responses, where they are read
select fact.prompt_id, {column} as text
from generation fact
join prompt_variant variant on variant.id = fact.variant_id
{join}
where variant.perturbation = '' and fact.draw >= 0
    and fact.run_id in (:run_ids) and fact.prompt_id in (:prompt_ids)
order by fact.prompt_id, fact.run_id, fact.draw, variant.fewshot_draw, variant.template
