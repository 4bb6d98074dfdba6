-- Data from which the answers of runs to unperturbed prompts are recovered.
-- grain: one row per run that has generations
select fact.run_id, count(fact.extracted_answer) as n_answers,
    count(fact.response_hash) as n_responses
from generation fact
join prompt_variant variant on variant.id = fact.variant_id
where variant.perturbation = '' and fact.draw >= 0 and fact.run_id in (:run_ids)
group by fact.run_id
order by fact.run_id
