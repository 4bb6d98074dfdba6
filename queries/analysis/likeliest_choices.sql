-- Choices of runs by rising log-likelihood: the likeliest of the first run comes last.
-- grain: one row per run, prompt and choice
select fact.run_id, fact.prompt_id, fact.choice_index
from choice fact
join prompt_variant on prompt_variant.id = fact.variant_id
where prompt_variant.perturbation = '' and fact.draw = 0 and fact.loglikelihood is not null
    and fact.run_id in (:run_ids) and fact.prompt_id in (:prompt_ids)
order by fact.run_id desc nulls last, fact.loglikelihood nulls last,
    fact.choice_index desc nulls last
