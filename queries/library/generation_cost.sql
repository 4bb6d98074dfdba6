-- What runs wrote and what it cost: tokens, seconds, dollars, failures.
-- grain: one row per current run with generations
-- parameter: benchmark text = '' -- name of a benchmark; empty for all
-- parameter: model text = '' -- name of a model; empty for all
-- columns:
--   run_id: id of the run
--   model: name of the model
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   reasoning_effort: as the endpoint names it
--   max_tokens: limit of generated tokens
--   n_generations: generations
--   n_errors: generations without a response
--   n_cut: generations that stopped at the limit (finish reason length or max_tokens)
--   input_tokens: sum over generations; null if unknown
--   output_tokens: sum over generations; null if unknown
--   mean_output_tokens: per generation
--   largest_output_tokens: longest generation
--   mean_latency: per generation [s]
--   cost: sum over generations [US dollars]
select
  fact.run_id,
  min(r.model) as model,
  min(r.benchmark) as benchmark,
  min(r.split) as split,
  min(r.reasoning_effort) as reasoning_effort,
  min(r.max_tokens) as max_tokens,
  count(*) as n_generations,
  count(fact.error) as n_errors,
  count(*) filter (where fact.finish_reason in ('length', 'max_tokens')) as n_cut,
  cast(sum(fact.input_tokens) as bigint) as input_tokens,
  cast(sum(fact.output_tokens) as bigint) as output_tokens,
  avg(fact.output_tokens) as mean_output_tokens,
  max(fact.output_tokens) as largest_output_tokens,
  avg(fact.latency) as mean_latency,
  sum(fact.cost) as cost
from generation fact
join run_current r on r.run_id = fact.run_id
where (:benchmark = '' or r.benchmark = :benchmark)
  and (:model = '' or r.model = :model)
group by fact.run_id
order by fact.run_id nulls last
