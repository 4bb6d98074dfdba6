-- How much of a mean's variance comes from the choice of prompts and how much from the draws.
-- On the scale of the prompt means; only metrics that are plain means (no weights, no link).
-- grain: one row per current run and metric in headline form
-- columns:
--   run_id: id of the run
--   model: name of the model
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   metric_id: id of the metric
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   estimate: mean over prompts of the mean over draws
--   n_prompts: prompts with a score
--   n_multi_draw: prompts with two or more draws
--   mean_draws: mean number of draws of a prompt
--   prompt_variance: sample variance of the prompt means (s2)
--   variance: variance of the estimate, prompts sampled: s2 / n, for any number of draws
--   mean_within: mean variance between draws of one prompt (W), over prompts where it is known
--   within: mean of W_i / K_i over prompts; unknown W_i count as mean_within
--   between_raw: s2 - within; unbiased, may be negative
--   between_clipped: between_raw, or 0 if negative
--   is_clipped: between_raw is negative
--   within_imputed: W_i is unknown for some prompts (one draw), mean_within stands in
--   between_part: between_raw / n
--   within_part: within / n
--   variance_double_draws: variance expected from twice as many draws of each prompt
--   variance_fixed_prompts: variance of the estimate if only the draws are random: within / n
--   variance_zhang_plugin: the plug-in of zhang2025 eq. 2, which counts the within part almost
--     twice; only for 0/1 scores with equal numbers of draws
--   suggested_draws: draws per prompt beyond which under 10 % of the variance between prompts is
--     left to gain; null if between_raw is not above 0, but for rounding
with moments as (
  select
    fact.run_id,
    fact.metric_id,
    avg(fact.value) as mean,
    count(*) as n,
    count(*) filter (where fact.n_draws > 1) as n_multi_draw,
    sum((0 * fact.value + 1) * fact.n_draws) / count(*) as mean_draws,
    var_samp(fact.value) as s2,
    avg(fact.within_variance) filter (where fact.n_draws > 1) as w_bar,
    sum(fact.within_variance / fact.n_draws) filter (where fact.n_draws > 1) as known,
    count(fact.within_variance) filter (where fact.n_draws > 1) as n_known,
    sum((0 * fact.value + 1) / fact.n_draws)
      filter (where fact.n_draws <= 1 or fact.within_variance is null) as unknown,
    min(fact.n_draws) = max(fact.n_draws) and bool_and(fact.is_binary) as is_regular
  from prompt_score fact
  join run on run.id = fact.run_id
  join metric on metric.id = fact.metric_id
  where fact.perturbation = '' and fact.value is not null and fact.n_draws > 0
    and metric.link = 'identity'
    and run.status <> 'invalidated' and run.superseded_by is null
  group by fact.run_id, fact.metric_id
  having min(fact.weight) = max(fact.weight)
),
components as (
  select
    moments.*,
    (known + w_bar * coalesce(unknown, 0)) / n as w
  from moments
)
select
  components.run_id,
  run_current.model,
  run_current.benchmark,
  run_current.split,
  components.metric_id,
  metric.name as metric,
  metric.filter as metric_filter,
  components.mean as estimate,
  components.n as n_prompts,
  components.n_multi_draw,
  components.mean_draws,
  components.s2 as prompt_variance,
  components.s2 / components.n as variance,
  components.w_bar as mean_within,
  components.w as within,
  components.s2 - components.w as between_raw,
  case when components.s2 - components.w < 0 then 0 * components.s2
    else components.s2 - components.w end as between_clipped,
  components.s2 - components.w < 0 as is_clipped,
  components.n_known between 1 and components.n - 1 as within_imputed,
  (components.s2 - components.w) / components.n as between_part,
  components.w / components.n as within_part,
  (components.s2 - components.w) / components.n + components.w / (2 * components.n)
    as variance_double_draws,
  components.w / components.n as variance_fixed_prompts,
  case when components.is_regular then
    (components.mean - components.mean * components.mean - components.s2)
      / (components.n * components.mean_draws) + components.s2 / components.n
  end as variance_zhang_plugin,
  case when components.s2 - components.w > 1e-12 * components.s2 then
    cast(greatest(
      ceil(components.w_bar / (0.1 * (components.s2 - components.w)) * (1 - 1e-9)), 1
    ) as bigint)
  end as suggested_draws
from components
join run_current on run_current.run_id = components.run_id
join metric on metric.id = components.metric_id
