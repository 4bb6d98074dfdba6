-- Scores over training seeds: what else was set is equal inside a row.
-- grain: one row per model, recipe, training position, setting, benchmark, split and metric
-- columns:
--   model: name of the model
--   recipe: recipe or data mix of the training
--   position: place in training, in position_unit; null for models without one
--   position_unit: step, tokens or epoch
--   is_last_position: no later position of the same setting is stored
--   agent: scaffold around the model; '' if none
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   task_version: version of the task definition
--   harness: tool that made the runs
--   formulation: multiple_choice, generate_until, cloze …
--   fewshot: examples in the prompt
--   temperature: sampling temperature
--   metric_id: id of the metric
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   higher_is_better: direction; null if unknown
--   seed_mean: mean over training seeds of the figure (repeats of a seed averaged first)
--   seed_std: sample standard deviation over training seeds; null for one seed
--   signal_to_noise: seed_mean / seed_std; null for one seed or if seed_std is 0
--   lowest: smallest figure of a seed
--   highest: largest figure of a seed
--   mean_half_width: mean half-width of the single runs' 95 % normal intervals
--   n_seeds: training seeds
--   n_runs: runs
--   seed_error: standard error of seed_mean over seeds, seed_std / sqrt(n_seeds); null for one seed
--   sd_ratio: seed_std / mean_half_width; null if either is unknown or the latter 0
--   n_positions: positions that as many seeds have as any position of the setting has
--   seed_std_averaged: mean of seed_std over those positions; null for one seed
with per_seed as (
  select
    r.model,
    r.recipe,
    r.training_seed_id,
    r.position,
    r.position_unit,
    r.agent,
    r.agent_id,
    r.benchmark,
    r.benchmark_id,
    r.split,
    r.task_version,
    r.harness,
    r.formulation,
    r.fewshot,
    r.fewshot_seed,
    r.template_hash,
    r.system_prompt_hash,
    r.temperature,
    r.top_p,
    r.max_tokens,
    r.reasoning_effort,
    r.opponent,
    s.metric_id,
    nullif(avg(s.estimate), cast('NaN' as double precision)) as mean_estimate,
    avg(s.standard_error) as mean_error,
    count(*) as run_count
  from run_score s
  join run_current r on r.run_id = s.run_id
  group by
    r.model, r.recipe, r.training_seed_id, r.position, r.position_unit, r.agent, r.agent_id,
    r.benchmark, r.benchmark_id, r.split, r.task_version, r.harness, r.formulation, r.fewshot,
    r.fewshot_seed, r.template_hash, r.system_prompt_hash, r.temperature, r.top_p, r.max_tokens,
    r.reasoning_effort, r.opponent, s.metric_id
),
finite as ( -- infinite figures have no spread; some engines have no minimum or maximum of them
  select
    per_seed.*,
    case when abs(mean_estimate) < cast('Infinity' as double precision) then mean_estimate end
      as finite_estimate
  from per_seed
),
per_setting as (
  select
    model, recipe, position, position_unit, agent, agent_id, benchmark, benchmark_id, split,
    task_version, harness, formulation, fewshot, fewshot_seed, template_hash, system_prompt_hash,
    temperature, top_p, max_tokens, reasoning_effort, opponent, metric_id,
    nullif(avg(mean_estimate), cast('NaN' as double precision)) as seed_mean,
    case
      when max(abs(mean_estimate)) = cast('Infinity' as double precision) then null
      when min(mean_estimate) = max(mean_estimate) then 0 * stddev_samp(finite_estimate)
      else stddev_samp(finite_estimate) end as seed_std,
    case
      when min(mean_estimate) = cast('-Infinity' as double precision) then min(mean_estimate)
      else coalesce(min(finite_estimate), avg(mean_estimate)) end as lowest,
    case
      when max(mean_estimate) = cast('Infinity' as double precision) then max(mean_estimate)
      else coalesce(max(finite_estimate), avg(mean_estimate)) end as highest,
    1.959963984540054 * avg(mean_error) as mean_half_width,
    count(*) as n_seeds,
    cast(sum(run_count) as bigint) as n_runs
  from finite
  group by
    model, recipe, position, position_unit, agent, agent_id, benchmark, benchmark_id, split,
    task_version, harness, formulation, fewshot, fewshot_seed, template_hash, system_prompt_hash,
    temperature, top_p, max_tokens, reasoning_effort, opponent, metric_id
),
along_training as (
  select
    per_setting.*,
    max(position) over setting as last_position,
    max(n_seeds) over setting as most_seeds
  from per_setting
  window setting as (
    partition by
      model, recipe, position_unit, agent_id, benchmark_id, split, task_version, harness,
      formulation, fewshot, fewshot_seed, template_hash, system_prompt_hash, temperature, top_p,
      max_tokens, reasoning_effort, opponent, metric_id
  )
)
select
  p.model,
  p.recipe,
  p.position,
  p.position_unit,
  coalesce(p.position = p.last_position, true) as is_last_position,
  p.agent,
  p.benchmark,
  p.split,
  p.task_version,
  p.harness,
  p.formulation,
  p.fewshot,
  p.temperature,
  p.metric_id,
  metric.name as metric,
  metric.filter as metric_filter,
  headline_metric.higher_is_better,
  p.seed_mean,
  p.seed_std,
  p.seed_mean / nullif(p.seed_std, 0) as signal_to_noise,
  p.lowest,
  p.highest,
  p.mean_half_width,
  p.n_seeds,
  p.n_runs,
  p.seed_std / sqrt(p.n_seeds) as seed_error,
  p.seed_std / nullif(p.mean_half_width, 0) as sd_ratio,
  count(case when p.n_seeds = p.most_seeds then 1 end) over setting as n_positions,
  avg(case when p.n_seeds = p.most_seeds then p.seed_std end) over setting as seed_std_averaged
from along_training p
join metric on metric.id = p.metric_id
left join headline_metric
  on headline_metric.benchmark_id = p.benchmark_id
  and headline_metric.metric_id = p.metric_id
window setting as (
  partition by
    p.model, p.recipe, p.position_unit, p.agent_id, p.benchmark_id, p.split, p.task_version,
    p.harness, p.formulation, p.fewshot, p.fewshot_seed, p.template_hash, p.system_prompt_hash,
    p.temperature, p.top_p, p.max_tokens, p.reasoning_effort, p.opponent, p.metric_id
)
