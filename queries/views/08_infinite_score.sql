-- Infinite scores, which are scores: with one of them the mean is infinite. They are kept as text
-- (score.raw), and a prompt that has one counts as unscored in prompt_score. Where no score can be
-- infinite (the others are 0 or 1, or bounds are declared) it is none, as NaN is none.
-- grain: one row per run, metric and perturbation with an infinite score
-- columns:
--   run_id: id of the run
--   metric_id: id of the metric
--   perturbation: perturbation or prompt format; '' is the headline form
--   n_above: draws with a score of plus infinity
--   n_below: draws with a score of minus infinity
--   n_prompts: prompts with one of these
--   n_prompts_only: of these the prompts without a finite score
with kept as ( -- only prompts that lack a score are looked at
  select
    fact.run_id,
    fact.metric_id,
    fact.perturbation,
    fact.prompt_id,
    fact.value is null as has_no_other,
    lower(score.raw) as word
  from prompt_score fact
  join score
    on score.run_id = fact.run_id
    and score.prompt_id = fact.prompt_id
    and score.metric_id = fact.metric_id
    and score.value is null
    and score.raw is not null
  join prompt_variant
    on prompt_variant.id = score.variant_id
    and prompt_variant.perturbation = fact.perturbation
  where fact.n_unscored > 0
),
possible as ( -- metrics of which a score may be infinite
  select
    run.id as run_id,
    benchmark_metric.metric_id
  from benchmark_metric
  join run on run.benchmark_id = benchmark_metric.benchmark_id
  where benchmark_metric.kind is null
    or benchmark_metric.kind = 'continuous'
    or (benchmark_metric.kind = 'bounded' and benchmark_metric.is_inferred)
),
signed as (
  select
    kept.*,
    case when word in ('-inf', '-infinity', '"-inf"', '"-infinity"') then 1 else 0 end as is_below
  from kept
  where word in (
    'inf', '+inf', 'infinity', '+infinity', '"inf"', '"+inf"', '"infinity"', '"+infinity"',
    '-inf', '-infinity', '"-inf"', '"-infinity"'
  )
)
select
  signed.run_id,
  signed.metric_id,
  signed.perturbation,
  cast(sum(1 - is_below) as bigint) as n_above,
  cast(sum(is_below) as bigint) as n_below,
  count(distinct prompt_id) as n_prompts,
  count(distinct case when has_no_other then prompt_id end) as n_prompts_only
from signed
join possible
  on possible.run_id = signed.run_id
  and possible.metric_id = signed.metric_id
group by signed.run_id, signed.metric_id, signed.perturbation
