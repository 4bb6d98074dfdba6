-- How hard each prompt is: its mean score over conditions, repeats of one pooled first.
-- grain: one row per prompt and metric
-- columns:
--   prompt_id: id of the prompt, or of the one that a prompt link joins it to
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   prompt_key: key of the prompt
--   tool_prompt_id: the tool's own id of the prompt
--   metric_id: id of the metric
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   difficulty: mean over conditions of the prompt's value; low is hard if higher is better
--   spread: sample standard deviation over conditions; null for a single one
--   lowest: smallest value of a condition
--   highest: largest value of a condition
--   n_conditions: conditions with a score
--   n_runs: runs with a score
with per_prompt as (
  select
    prompt_id,
    metric_id,
    avg(value) as difficulty,
    stddev_samp(value) as spread,
    min(value) as lowest,
    max(value) as highest,
    count(*) as n_conditions,
    cast(sum(n_runs) as bigint) as total_runs
  from condition_matrix
  group by prompt_id, metric_id
)
select
  per_prompt.prompt_id,
  coalesce(named_benchmark.name, benchmark.name) as benchmark,
  prompt.split,
  prompt.key as prompt_key,
  prompt.tool_id as tool_prompt_id,
  per_prompt.metric_id,
  metric.name as metric,
  metric.filter as metric_filter,
  per_prompt.difficulty,
  per_prompt.spread,
  per_prompt.lowest,
  per_prompt.highest,
  per_prompt.n_conditions,
  per_prompt.total_runs as n_runs
from per_prompt
join metric on metric.id = per_prompt.metric_id
join prompt on prompt.id = per_prompt.prompt_id
join benchmark on benchmark.id = prompt.benchmark_id
left join benchmark named_benchmark on named_benchmark.id = benchmark.canonical_id
