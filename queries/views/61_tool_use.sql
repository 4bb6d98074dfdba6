-- Which tools a run called, how often, and how often they failed.
-- grain: one row per current run and tool
-- columns:
--   run_id: id of the run
--   model: name of the model
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   tool: name of the tool; null if the dump names none
--   n_generations: generations that called it
--   n_calls: calls
--   n_errors: calls that came back as an error; null if the dump does not say
--   calls_per_generation: calls per generation that called it
--   error_share: errors per call [0 to 1]; null if the dump does not say
select
  fact.run_id,
  min(r.model) as model,
  min(r.benchmark) as benchmark,
  min(r.split) as split,
  fact.tool,
  count(*) as n_generations,
  cast(sum(fact.n_calls) as bigint) as n_calls,
  cast(sum(fact.n_errors) as bigint) as n_errors,
  exp(0) * sum(fact.n_calls) / count(*) as calls_per_generation,
  exp(0) * sum(fact.n_errors)
  / nullif(sum(case when fact.n_errors is not null then fact.n_calls end), 0) as error_share
from tool_call fact
join run_current r on r.run_id = fact.run_id
group by fact.run_id, fact.tool
