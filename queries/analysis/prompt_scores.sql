-- Scores of unperturbed prompts, one for all draws of a prompt.
-- grain: one row per run, metric and prompt
select fact.run_id, fact.metric_id, fact.prompt_id, fact.value, fact.weight, fact.n_draws,
    fact.within_variance, fact.n_scored, fact.n_unscored,
    cast(fact.is_binary as integer) as is_binary
from prompt_score fact
where fact.perturbation = '' and fact.metric_id in (:metric_ids) and fact.run_id in (:run_ids)
