-- The performance matrix in long form: what every run got on every prompt, in headline form.
-- grain: one row per current run, prompt and metric with a score
-- columns:
--   prompt_id: id of the prompt, or of the one that a prompt link joins it to
--   run_id: id of the run
--   condition_key: what was measured; equal for repeats
--   model: name of the model
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   metric_id: id of the metric
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   value: mean over the draws, in the metric's per-prompt unit
--   weight: weight of the prompt in the benchmark's mean
--   n_draws: generations behind the value
select
  coalesce(prompt_link.canonical_prompt_id, fact.prompt_id) as prompt_id,
  fact.run_id,
  run_current.condition_key,
  run_current.model,
  run_current.benchmark,
  run_current.split,
  fact.metric_id,
  metric.name as metric,
  metric.filter as metric_filter,
  fact.value,
  fact.weight,
  fact.n_draws
from prompt_score fact
join run_current on run_current.run_id = fact.run_id
join metric on metric.id = fact.metric_id
left join prompt_link on prompt_link.prompt_id = fact.prompt_id
where fact.perturbation = '' and fact.value is not null
