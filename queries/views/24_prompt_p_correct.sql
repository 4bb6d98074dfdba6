-- The probability that a run answers a prompt correctly, with its Wilson interval.
-- Only metrics that are 0/1 for each generation, also where the dump stores their rate; a value
-- that is no share of its draws (partial credit) is left out.
-- grain: one row per current run, prompt and binary metric with a score, in headline form
-- columns:
--   run_id: id of the run
--   prompt_id: id of the prompt
--   model: name of the model
--   temperature: sampling temperature
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   prompt_key: key of the prompt
--   metric_id: id of the metric
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   p_correct: share of correct generations [0 to 1]
--   n_draws: generations
--   n_correct: correct generations
--   wilson_low: lower end of the 95 % Wilson interval of n_draws generations
--   wilson_high: upper end
with binary_metric as (
  select benchmark_id, metric_id
  from benchmark_metric
  where kind = 'binary'
),
rates as (
  select
    fact.run_id,
    fact.prompt_id,
    fact.metric_id,
    run_current.model,
    run_current.temperature,
    run_current.benchmark,
    run_current.split,
    fact.value as p,
    fact.n_draws as k,
    3.841458820694124 as z2
  from prompt_score fact
  join run_current on run_current.run_id = fact.run_id
  left join binary_metric
    on binary_metric.benchmark_id = run_current.benchmark_id
    and binary_metric.metric_id = fact.metric_id
  where fact.perturbation = '' and fact.value between 0 and 1 and fact.n_draws > 0
    and (fact.is_binary or binary_metric.metric_id is not null)
    and abs(fact.value * fact.n_draws - round(fact.value * fact.n_draws)) < 0.05
)
select
  rates.run_id,
  rates.prompt_id,
  rates.model,
  rates.temperature,
  rates.benchmark,
  rates.split,
  prompt.key as prompt_key,
  rates.metric_id,
  metric.name as metric,
  metric.filter as metric_filter,
  rates.p as p_correct,
  rates.k as n_draws,
  cast(round(rates.p * rates.k) as bigint) as n_correct,
  case when rates.p = 0 then rates.p else
    (rates.p + z2 / (2 * k) - sqrt(z2 * (p * (1 - p) + z2 / (4 * k)) / k)) / (1 + z2 / k)
  end as wilson_low,
  case when rates.p = 1 then rates.p else
    (rates.p + z2 / (2 * k) + sqrt(z2 * (p * (1 - p) + z2 / (4 * k)) / k)) / (1 + z2 / k)
  end as wilson_high
from rates
join prompt on prompt.id = rates.prompt_id
join metric on metric.id = rates.metric_id
