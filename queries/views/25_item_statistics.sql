-- Difficulty and discrimination of each prompt over conditions, repeats of one pooled first.
-- Discrimination is the plain Pearson correlation of the prompt with the conditions' mean score
-- (which the prompt itself is part of). Conditions that saw few prompts blur it.
-- grain: one row per prompt and metric
-- columns:
--   prompt_id: id of the prompt, or of the one that a prompt link joins it to
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   prompt_key: key of the prompt
--   metric_id: id of the metric
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   difficulty: mean over conditions of the prompt's value
--   discrimination: correlation with the conditions' mean [-1 to 1]; null where the prompt or the
--     means are constant
--   n_conditions: conditions with a score
with with_overall as (
  select
    prompt_id,
    metric_id,
    value,
    avg(value) over (partition by metric_id, condition_run_id) as overall
  from condition_matrix
),
per_prompt as (
  select
    prompt_id,
    metric_id,
    avg(value) as difficulty,
    case
      when max(value) - min(value) > 1e-12 * max(abs(value))
        and max(overall) - min(overall) > 1e-12 * max(abs(overall))
      then corr(value, overall)
    end as discrimination,
    count(*) as n_conditions
  from with_overall
  group by prompt_id, metric_id
)
select
  per_prompt.prompt_id,
  coalesce(named_benchmark.name, benchmark.name) as benchmark,
  prompt.split,
  prompt.key as prompt_key,
  per_prompt.metric_id,
  metric.name as metric,
  metric.filter as metric_filter,
  per_prompt.difficulty,
  per_prompt.discrimination,
  per_prompt.n_conditions
from per_prompt
join metric on metric.id = per_prompt.metric_id
join prompt on prompt.id = per_prompt.prompt_id
join benchmark on benchmark.id = prompt.benchmark_id
left join benchmark named_benchmark on named_benchmark.id = benchmark.canonical_id
