-- The performance matrix with the repeats of a condition pooled: a draw is run and draw.
-- grain: one row per condition, prompt and metric with a score
-- columns:
--   prompt_id: id of the prompt, or of the one that a prompt link joins it to
--   metric_id: id of the metric
--   condition_run_id: the smallest run id of the condition; run_current names the rest
--   value: mean over all draws of all repeats, in the metric's per-prompt unit
--   n_draws: generations behind the value
--   n_runs: repeats with a score
with condition_run as (
  select
    run_id,
    min(run_id) over (partition by condition_key) as condition_run_id
  from run_current
)
select
  coalesce(prompt_link.canonical_prompt_id, fact.prompt_id) as prompt_id,
  fact.metric_id,
  condition_run.condition_run_id,
  sum(fact.value * fact.n_draws) / sum(fact.n_draws) as value,
  cast(sum(fact.n_draws) as bigint) as n_draws,
  count(distinct fact.run_id) as n_runs
from prompt_score fact
join condition_run on condition_run.run_id = fact.run_id
left join prompt_link on prompt_link.prompt_id = fact.prompt_id
where fact.perturbation = '' and fact.value is not null and fact.n_draws > 0
group by
  coalesce(prompt_link.canonical_prompt_id, fact.prompt_id),
  fact.metric_id,
  condition_run.condition_run_id
