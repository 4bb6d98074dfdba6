-- First responses of runs to unperturbed prompts, whole, with what was asked.
-- grain: one row per run and prompt
select run_id, prompt_id, variant_id, draw, response
from (
    select fact.run_id, fact.prompt_id, fact.variant_id, fact.draw,
        coalesce(answer.text, fact.extracted_answer) as response,
        row_number() over (
            partition by fact.run_id, fact.prompt_id order by fact.draw, fact.variant_id
        ) as number
    from generation fact
    join prompt_variant on prompt_variant.id = fact.variant_id
    left join content answer on answer.sha256 = fact.response_hash
    where prompt_variant.perturbation = '' and fact.draw >= 0
        and fact.run_id in (:run_ids) and fact.prompt_id in (:prompt_ids)
) said
where number = 1
order by run_id, prompt_id
