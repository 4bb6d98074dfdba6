-- Prompts on which two runs differ most: what one gets and the other does not.
-- grain: one row per prompt and metric on which both have a score and differ
-- parameter: run_a integer -- id of the first run
-- parameter: run_b integer -- id of the second run
-- parameter: metric text = '' -- name of a metric; empty for the headline metric
-- parameter: smallest number = 0.5 -- difference from which on a prompt is listed
-- parameter: limit integer = 50 -- rows at most
-- columns:
--   prompt_id: id of the prompt
--   prompt_key: key of the prompt
--   tool_prompt_id: the tool's own id of the prompt
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   value_a: mean over draws of the first run
--   value_b: mean over draws of the second run
--   difference: value_a - value_b
--   prompt_text: the question
--   target: the expected answer
with sides as (
  select
    fact.metric_id,
    coalesce(prompt_link.canonical_prompt_id, fact.prompt_id) as prompt_id,
    avg(fact.value) filter (where fact.run_id = :run_a) as value_a,
    avg(fact.value) filter (where fact.run_id = :run_b) as value_b
  from prompt_score fact
  join run on run.id = fact.run_id
  join metric on metric.id = fact.metric_id
  left join headline_metric
    on headline_metric.benchmark_id = run.benchmark_id
    and headline_metric.metric_id = fact.metric_id
  left join prompt_link on prompt_link.prompt_id = fact.prompt_id
  where fact.run_id in (:run_a, :run_b)
    and fact.perturbation = ''
    and ((:metric = '' and headline_metric.is_default) or metric.name = :metric)
  group by fact.metric_id, coalesce(prompt_link.canonical_prompt_id, fact.prompt_id)
)
select
  sides.prompt_id,
  prompt.key as prompt_key,
  prompt.tool_id as tool_prompt_id,
  metric.name as metric,
  metric.filter as metric_filter,
  sides.value_a,
  sides.value_b,
  sides.value_a - sides.value_b as difference,
  prompt.text as prompt_text,
  prompt.target
from sides
join prompt on prompt.id = sides.prompt_id
join metric on metric.id = sides.metric_id
where abs(sides.value_a - sides.value_b) >= :smallest
order by abs(sides.value_a - sides.value_b) desc nulls last, sides.prompt_id nulls last
limit :limit
