-- Scores along the training of a model, with the change since the checkpoint before.
-- grain: one row per current run and metric whose checkpoint has a place in training
-- columns:
--   run_id: id of the run
--   model: name of the model
--   training_seed: label of the trained replicate
--   recipe: recipe or data mix of the training
--   checkpoint: key of the checkpoint
--   position: place in training, in position_unit
--   position_unit: step, tokens or epoch
--   tokens: training tokens seen
--   is_final: last checkpoint of its training; null if unknown
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   fewshot: examples in the prompt
--   metric_id: id of the metric
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   is_default: the metric is the benchmark's headline metric
--   higher_is_better: direction; null if unknown
--   estimate: the figure, in the metric's reported unit
--   standard_error: of the figure; null if unknown or 0
--   origin: recomputed or published
--   previous_position: position of the checkpoint before in the same setting
--   previous_estimate: its figure
--   change: estimate - previous_estimate
--   checkpoint_number: 1 for the first position of the setting
--   n_checkpoints: positions of the setting, repeats counted
--   best_before: best figure of the positions before, the smallest where lower is better
--   against_best: estimate - best_before, turned so that below 0 is worse
select
  r.run_id,
  r.model,
  r.training_seed,
  r.recipe,
  r.checkpoint,
  r.position,
  r.position_unit,
  r.tokens,
  r.is_final,
  r.benchmark,
  r.split,
  r.fewshot,
  s.metric_id,
  s.metric,
  s.metric_filter,
  s.is_default,
  s.higher_is_better,
  s.estimate,
  s.standard_error,
  s.origin,
  lag(r.position) over in_training as previous_position,
  lag(s.estimate) over in_training as previous_estimate,
  nullif(s.estimate - lag(s.estimate) over in_training, cast('NaN' as double precision)) as change,
  row_number() over in_training as checkpoint_number,
  count(*) over of_training as n_checkpoints,
  case when s.higher_is_better then max(s.estimate) over before
    when not s.higher_is_better then min(s.estimate) over before end as best_before,
  nullif(
    case when s.higher_is_better then s.estimate - max(s.estimate) over before
      when not s.higher_is_better then min(s.estimate) over before - s.estimate end,
    cast('NaN' as double precision)
  ) as against_best
from run_score s
join run_current r on r.run_id = s.run_id
where r.position is not null
window in_training as (
  partition by
    r.training_seed_id, r.position_unit, r.agent_id, r.benchmark_id, r.split, r.task_version,
    r.harness, r.formulation, r.fewshot, r.fewshot_seed, r.template_hash, r.system_prompt_hash,
    r.temperature, r.top_p, r.max_tokens, r.reasoning_effort, r.opponent, s.metric_id
  order by r.position nulls last, r.run_id nulls last
),
of_training as (
  partition by
    r.training_seed_id, r.position_unit, r.agent_id, r.benchmark_id, r.split, r.task_version,
    r.harness, r.formulation, r.fewshot, r.fewshot_seed, r.template_hash, r.system_prompt_hash,
    r.temperature, r.top_p, r.max_tokens, r.reasoning_effort, r.opponent, s.metric_id
),
before as (
  partition by
    r.training_seed_id, r.position_unit, r.agent_id, r.benchmark_id, r.split, r.task_version,
    r.harness, r.formulation, r.fewshot, r.fewshot_seed, r.template_hash, r.system_prompt_hash,
    r.temperature, r.top_p, r.max_tokens, r.reasoning_effort, r.opponent, s.metric_id
  order by r.position nulls last, r.run_id nulls last
  rows between unbounded preceding and 1 preceding
)
