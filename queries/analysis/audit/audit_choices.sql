-- Options of unperturbed prompts that runs scored, with their log-likelihoods.
-- grain: one row per run, prompt, variant, draw and option
select fact.run_id, fact.prompt_id, fact.variant_id, fact.draw, fact.choice_index,
    fact.loglikelihood, fact.unconditional_loglikelihood, fact.n_tokens, fact.n_bytes,
    cast(fact.is_target as integer) as is_target
from choice fact
join prompt_variant variant on variant.id = fact.variant_id
where variant.perturbation = '' and fact.draw >= 0 and fact.run_id in (:run_ids)
order by fact.run_id, fact.prompt_id, fact.variant_id, fact.draw, fact.choice_index
