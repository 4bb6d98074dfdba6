-- pass@k and pass^k that sources publish, recomputed from the draws of each prompt.
-- grain: one row per run, metric, perturbation and published statistic of this kind
-- columns:
--   run_id: id of the run
--   metric_id: id of the metric
--   perturbation: perturbation or prompt format; '' is the headline form
--   statistic: pass@k (any of k draws is right) or pass^k (all of them are)
--   estimate: the figure, a mean over prompts; null where a prompt has fewer than k scored draws
--   null_as_worst: the figure if draws without a score count as wrong
with recursive step as (
  select 0 as j union all select j + 1 as j from step where j < 199
),
wanted_pass as (
  select distinct
    published_score.run_id,
    published_score.metric_id,
    published_score.perturbation,
    published_score.statistic,
    step.j as k,
    published_score.statistic = 'pass^' || step.j as all_of_k
  from published_score
  join step
    on (published_score.statistic = 'pass@' || step.j and step.j > 1)
    or (published_score.statistic = 'pass^' || step.j and step.j > 0)
  where published_score.run_id is not null
),
drawn as (
  select
    wanted_pass.*,
    fact.prompt_id,
    case when fact.value is not null then fact.n_draws end as n_draws,
    fact.n_draws + fact.n_unscored as n_samples,
    round(coalesce(fact.value, 0) * fact.n_draws) as n_correct
  from prompt_score fact
  join wanted_pass
    on wanted_pass.run_id = fact.run_id
    and wanted_pass.metric_id = fact.metric_id
    and wanted_pass.perturbation = fact.perturbation
),
passing as (
  select
    drawn.*,
    case when all_of_k then n_correct else n_draws - n_correct end as n_alike,
    case when all_of_k then n_correct else n_samples - n_correct end as n_alike_filled
  from drawn
),
alike as (
  select
    run_id, metric_id, perturbation, statistic, all_of_k, passing.prompt_id,
    bool_and(n_draws >= k) as is_possible,
    bool_and(n_samples >= k) as is_possible_filled,
    min(n_alike - step.j) as smallest_factor,
    min(n_alike_filled - step.j) as smallest_factor_filled,
    sum(
      ln(greatest(n_alike - step.j, 1)) - ln(greatest(n_draws + 0 * n_alike - step.j, 1))
    ) as log_share,
    sum(
      ln(greatest(n_alike_filled - step.j, 1))
      - ln(greatest(n_samples + 0 * n_alike_filled - step.j, 1))
    ) as log_share_filled
  from passing
  join step on step.j < passing.k
  group by run_id, metric_id, perturbation, statistic, all_of_k, passing.prompt_id
),
shared as (
  select
    alike.*,
    case when smallest_factor < 1 then 0 * log_share else exp(log_share) end as share,
    case when smallest_factor_filled < 1 then 0 * log_share_filled
      else exp(log_share_filled) end as share_filled
  from alike
)
select
  run_id, metric_id, perturbation, statistic,
  case when bool_and(is_possible) then
    avg(case when is_possible then case when all_of_k then share else 1 - share end end)
  end as estimate,
  case when bool_and(is_possible_filled) then
    avg(case when all_of_k then share_filled else 1 - share_filled end)
  end as null_as_worst
from shared
group by run_id, metric_id, perturbation, statistic
