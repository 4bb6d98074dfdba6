-- Samples without a score: what the harness could not judge, and why.
-- grain: one row per current run, prompt, draw and metric without a value
-- parameter: run integer = 0 -- id of a run; 0 for all
-- parameter: benchmark text = '' -- name of a benchmark; empty for all
-- parameter: limit integer = 100 -- rows at most
-- columns:
--   run_id: id of the run
--   model: name of the model
--   benchmark: name of the benchmark
--   prompt_id: id of the prompt
--   tool_prompt_id: the tool's own id of the prompt
--   perturbation: perturbation or prompt format; '' is the headline form
--   draw: number of the generation, from 0
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   status: error, limit, refused or not_scalar
--   raw: the value as it stood in the dump
--   error: why there is no response
--   finish_reason: why the model stopped
select
  fact.run_id,
  r.model,
  r.benchmark,
  fact.prompt_id,
  prompt.tool_id as tool_prompt_id,
  prompt_variant.perturbation,
  fact.draw,
  metric.name as metric,
  metric.filter as metric_filter,
  fact.status,
  fact.raw,
  generation.error,
  generation.finish_reason
from score fact
join run_current r on r.run_id = fact.run_id
join prompt on prompt.id = fact.prompt_id
join prompt_variant on prompt_variant.id = fact.variant_id
join metric on metric.id = fact.metric_id
left join generation
  on generation.run_id = fact.run_id
  and generation.prompt_id = fact.prompt_id
  and generation.variant_id = fact.variant_id
  and generation.draw = fact.draw
where fact.value is null
  and (:run = 0 or fact.run_id = :run)
  and (:benchmark = '' or r.benchmark = :benchmark)
order by
  fact.run_id nulls last, fact.prompt_id nulls last, fact.draw nulls last,
  metric.name nulls last, metric.filter nulls last
limit :limit
