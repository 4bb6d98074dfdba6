-- Prompts that models do worst on, with how well they tell good models from bad ones.
-- A low or negative discrimination on a hard prompt often means a wrong target.
-- grain: one row per prompt and headline metric
-- parameter: benchmark text -- name of the benchmark
-- parameter: min_conditions integer = 2 -- conditions that must have a score of the prompt
-- parameter: limit integer = 20 -- rows at most
-- columns:
--   prompt_id: id of the prompt
--   prompt_key: key of the prompt
--   tool_prompt_id: the tool's own id of the prompt
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   difficulty: mean over conditions of the prompt's value
--   discrimination: correlation with the conditions' mean [-1 to 1]; null if constant
--   n_conditions: conditions with a score
--   prompt_text: the question
--   target: the expected answer
select
  items.prompt_id,
  items.prompt_key,
  prompt.tool_id as tool_prompt_id,
  items.metric,
  items.metric_filter,
  items.difficulty,
  items.discrimination,
  items.n_conditions,
  prompt.text as prompt_text,
  prompt.target
from item_statistics items
join prompt on prompt.id = items.prompt_id
join headline_metric
  on headline_metric.benchmark_id = prompt.benchmark_id
  and headline_metric.metric_id = items.metric_id
where items.benchmark = :benchmark
  and headline_metric.is_default
  and items.n_conditions >= :min_conditions
order by
  case when headline_metric.higher_is_better = false then - items.difficulty
    else items.difficulty end nulls last,
  items.prompt_id nulls last
limit :limit
