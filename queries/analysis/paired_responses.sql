-- Responses of runs to unperturbed prompts, else the answers extracted from them.
-- grain: one row per run, prompt and draw
-- placeholder: runs condition -- on fact.run_id
-- placeholder: prompts condition -- on fact.prompt_id
select fact.run_id, fact.prompt_id, fact.draw,
    coalesce(answer.text, fact.extracted_answer) as response
from generation fact
join prompt_variant on prompt_variant.id = fact.variant_id
left join content answer on answer.sha256 = fact.response_hash
where prompt_variant.perturbation = '' and {runs} and {prompts}
order by fact.run_id nulls last, fact.prompt_id nulls last, fact.draw nulls last
