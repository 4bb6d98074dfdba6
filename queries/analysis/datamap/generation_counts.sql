-- How many draws, extracted answers and responses the unperturbed prompts have.
-- grain: one row per prompt
select fact.prompt_id, count(*) as n, count(fact.extracted_answer) as n_answers,
    count(fact.response_hash) as n_responses
from generation fact
join prompt_variant variant on variant.id = fact.variant_id
where variant.perturbation = '' and fact.draw >= 0 and fact.run_id in (:run_ids)
group by fact.prompt_id
order by fact.prompt_id
