-- First characters of responses of runs to unperturbed prompts, else of the answers extracted.
-- grain: one row per run, prompt and draw
select fact.run_id, fact.prompt_id, fact.draw,
    substr(coalesce(answer.text, fact.extracted_answer), 1, :most) as response
from generation fact
join prompt_variant on prompt_variant.id = fact.variant_id
left join content answer on answer.sha256 = fact.response_hash
where prompt_variant.perturbation = ''
    and fact.run_id in (:run_ids) and fact.prompt_id in (:prompt_ids)
order by fact.run_id nulls last, fact.prompt_id nulls last, fact.draw nulls last
