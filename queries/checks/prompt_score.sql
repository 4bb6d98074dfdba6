-- Rows of prompt_score that differ from what score gives (1e-9 relative).
-- grain: one row per run and fault
-- columns:
--   run_id: id of the run
--   fault: missing, surplus, or the first column that differs
--   n: rows
with pooled as (
  select
    score.run_id,
    score.prompt_id,
    score.metric_id,
    prompt_variant.perturbation,
    sum(score.value * score.weight * score.n_draws) as wv_sum,
    sum(score.weight * score.n_draws) filter (where score.value is not null) as w_sum,
    sum(score.n_draws) filter (where score.value is not null) as draw_sum,
    var_samp(score.value) as variance_of_draws,
    max(score.n_draws) as largest,
    min(score.value) as low,
    max(score.value) as high,
    count(score.value) as scored_rows,
    count(*) - count(score.value) as unscored_rows,
    coalesce(
      bool_and(score.value = 0 or score.value = 1) filter (where score.value is not null), false
    ) as all_binary
  from score
  join prompt_variant on prompt_variant.id = score.variant_id
  group by score.run_id, score.prompt_id, score.metric_id, prompt_variant.perturbation
),
expected as (
  select
    pooled.*,
    wv_sum / nullif(w_sum, 0) as mean,
    coalesce(w_sum / nullif(draw_sum, 0), 1.0) as mean_weight,
    coalesce(greatest(abs(low), abs(high)), 0) as size
  from pooled
),
recomputed as (
  select
    expected.*,
    case
      when draw_sum is null or draw_sum < 2 then null
      when largest > 1 and low >= 0 and high <= 1
        then mean * (1 - mean) * draw_sum / (draw_sum - 1)
      when largest > 1 then null
      else variance_of_draws
    end as variance
  from expected
),
compared as (
  select
    coalesce(held.run_id, wanted.run_id) as run_id,
    case
      when held.run_id is null then 'missing'
      when wanted.run_id is null then 'surplus'
      when (held.value is null) <> (wanted.mean is null) then 'value'
      when not abs(held.value - wanted.mean) <= 1e-9 * greatest(abs(wanted.mean), wanted.size)
        then 'value'
      when not abs(held.weight - wanted.mean_weight) <= 1e-9 * abs(wanted.mean_weight)
        then 'weight'
      when held.n_draws <> coalesce(wanted.draw_sum, 0) then 'n_draws'
      when (held.within_variance is null) <> (wanted.variance is null) then 'within_variance'
      when not abs(held.within_variance - wanted.variance)
        <= 1e-9 * abs(wanted.variance) + 1e-12 * wanted.size * wanted.size
        then 'within_variance'
      when held.n_scored <> wanted.scored_rows then 'n_scored'
      when held.n_unscored <> wanted.unscored_rows then 'n_unscored'
      when held.is_binary <> wanted.all_binary then 'is_binary'
    end as fault
  from recomputed wanted
  full join prompt_score held
    on held.run_id = wanted.run_id
    and held.prompt_id = wanted.prompt_id
    and held.metric_id = wanted.metric_id
    and held.perturbation = wanted.perturbation
)
select run_id, fault, count(*) as n
from compared
where fault is not null
group by run_id, fault
order by run_id nulls last, fault nulls last
