-- Texts of the draws of unperturbed prompts.
-- grain: one row per prompt, run and draw
-- placeholder: column column -- the text: an extracted answer or a response
-- placeholder: join join -- to the table of responses, where they are read
-- placeholder: runs condition -- on fact.run_id
-- placeholder: prompts condition -- on fact.prompt_id
select fact.prompt_id, {column} as text
from generation fact
join prompt_variant variant on variant.id = fact.variant_id
{join}
where variant.perturbation = '' and fact.draw >= 0 and {runs} and {prompts}
order by fact.prompt_id, fact.run_id, fact.draw, variant.fewshot_draw, variant.template
