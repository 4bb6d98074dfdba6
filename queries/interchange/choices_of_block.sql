-- Log-likelihoods that a run gave to the choices of a block of prompts.
-- grain: one row per prompt, variant, draw and choice
select fact.prompt_id, variant.perturbation, variant.fewshot_draw, variant.template, fact.draw,
    fact.choice_index, fact.loglikelihood,
    fact.unconditional_loglikelihood, fact.is_greedy, fact.n_tokens, fact.n_bytes, fact.is_target
from choice fact
join prompt_variant variant on variant.id = fact.variant_id
where fact.run_id = :run and fact.prompt_id between :first and :last
order by fact.prompt_id nulls last, fact.variant_id nulls last, fact.draw nulls last,
    fact.choice_index nulls last
