-- Log-likelihoods that a run gave to the choices of a prompt.
-- grain: one row per variant, draw and choice
select prompt_variant.perturbation, fact.draw, fact.choice_index, fact.loglikelihood,
    fact.unconditional_loglikelihood, fact.is_greedy, fact.n_tokens, fact.n_bytes, fact.is_target
from choice fact
join prompt_variant on prompt_variant.id = fact.variant_id
where fact.run_id = :run and fact.prompt_id = :prompt
order by prompt_variant.perturbation nulls last, fact.draw nulls last,
    fact.choice_index nulls last
