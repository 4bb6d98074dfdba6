-- Published means that the samples do not give as they stand, under each policy on samples without
-- a score, with the policies that give them to the decimals that are published.
-- Prompts that a run was to be asked and has no row of count like errors. Weighted figures and
-- those behind a link are left out.
-- grain: one row per published mean of a current run whose verdict is neither exact nor rounded,
--   and of which some samples have no score or no row
-- parameter: benchmark text = '' -- name of a benchmark; empty for all
-- parameter: first integer = 0 -- runs from this id on; 0 for all
-- columns:
--   run_id: id of the run
--   model: name of the run's model
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   metric_id: id of the metric
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   statistic: mean or pass@1
--   published: the figure as published
--   missing: the figure of the samples with a score
--   attempts: the figure where limits, refusals and missing answers count as wrong
--   all_wrong: the figure where whatever has no score, or no row, counts as wrong
--   n_unscored: samples without a score
--   n_absent: prompts that were to be asked, of which there is no row
--   reproduces_under: names of the policies that give the published figure; '' for none
with differing as materialized (
  select run_id, model, benchmark, split, metric_id, metric, metric_filter, statistic, published,
    n_found, n_prompts_unscored, n_declared
  from published_against_recomputed
  where verdict not in ('exact', 'rounded') and statistic in ('mean', 'pass@1')
    and run_id is not null and perturbation = '' and run_id >= :first
    and metric_id in (select id from metric where link = 'identity')
    and not exists (
      select 1 from prompt_score fact
      where fact.run_id = published_against_recomputed.run_id
        and fact.metric_id = published_against_recomputed.metric_id and fact.weight <> 1
    )
    and (:benchmark = '' or benchmark = :benchmark)
),
wanted as materialized (
  select distinct run_id, metric_id from differing
),
worst as materialized (
  select
    wanted.run_id,
    wanted.metric_id,
    case
      when described.higher_is_better is null then null
      when described.higher_is_better
        then coalesce(described.low, case when described.kind = 'binary' then 0 end)
      else coalesce(described.high, case when described.kind = 'binary' then 1 end)
    end as value
  from wanted
  join run on run.id = wanted.run_id
  left join benchmark_metric described
    on described.benchmark_id = run.benchmark_id and described.metric_id = wanted.metric_id
),
draws as (
  select
    fact.run_id,
    fact.metric_id,
    fact.prompt_id,
    sum(case when fact.value is not null then fact.n_draws else 0 end) as n_kept,
    sum(case when fact.value is not null then fact.value * fact.n_draws else 0 end) as total,
    sum(case when fact.status in ('limit', 'refused', 'no_answer') then fact.n_draws else 0 end)
      as n_attempted,
    sum(
      case when fact.status in ('limit', 'refused', 'no_answer') and fact.value is not null
        then fact.n_draws else 0 end
    ) as n_attempted_kept,
    sum(
      case when fact.status in ('limit', 'refused', 'no_answer') and fact.value is not null
        then fact.value * fact.n_draws else 0 end
    ) as attempted_total,
    sum(case when fact.status <> 'scored' then fact.n_draws else 0 end) as n_failed,
    sum(
      case when fact.status <> 'scored' and fact.value is not null then fact.n_draws else 0 end
    ) as n_failed_kept,
    sum(
      case when fact.status <> 'scored' and fact.value is not null
        then fact.value * fact.n_draws else 0 end
    ) as failed_total,
    sum(case when fact.value is null then fact.n_draws else 0 end) as n_unscored
  from score fact
  join wanted on wanted.run_id = fact.run_id and wanted.metric_id = fact.metric_id
  join prompt_variant on prompt_variant.id = fact.variant_id
  where prompt_variant.perturbation = ''
  group by fact.run_id, fact.metric_id, fact.prompt_id
),
prompts as (
  select
    draws.run_id,
    draws.metric_id,
    draws.prompt_id,
    draws.n_unscored,
    draws.total / nullif(draws.n_kept, 0) as as_missing,
    (draws.total - draws.attempted_total + worst.value * draws.n_attempted)
      / nullif(draws.n_kept - draws.n_attempted_kept + draws.n_attempted, 0) as as_attempts,
    (draws.total - draws.failed_total + worst.value * draws.n_failed)
      / nullif(draws.n_kept - draws.n_failed_kept + draws.n_failed, 0) as as_wrong
  from draws
  join worst on worst.run_id = draws.run_id and worst.metric_id = draws.metric_id
),
means as (
  select
    prompts.run_id,
    prompts.metric_id,
    cast(count(*) as bigint) as n_seen,
    cast(sum(prompts.n_unscored) as bigint) as n_unscored,
    avg(prompts.as_missing) as missing,
    avg(prompts.as_attempts) as attempts,
    sum(prompts.as_wrong) as wrong_total
  from prompts
  group by prompts.run_id, prompts.metric_id
),
figures as (
  select
    differing.*,
    means.missing,
    means.attempts,
    means.n_unscored,
    greatest(differing.n_declared - means.n_seen, 0) as n_absent,
    (
      means.wrong_total
      + worst.value * greatest(coalesce(differing.n_declared, 0) - means.n_seen, 0)
    ) / greatest(means.n_seen, coalesce(differing.n_declared, 0)) as all_wrong,
    case
      when abs(published) >= 1 and abs(published * 10 - round(published * 10)) < 1e-7 then 0.05
      when abs(published) >= 1 and abs(published * 100 - round(published * 100)) < 1e-7 then 0.005
      when abs(published) >= 0.001 and abs(published * 1e3 - round(published * 1e3)) < 1e-7
        then 0.0005
      when abs(published * 1e4 - round(published * 1e4)) < 1e-7 then 0.00005
      when abs(published * 1e5 - round(published * 1e5)) < 1e-6 then 0.000005
      when abs(published * 1e6 - round(published * 1e6)) < 1e-6 then 0.0000005
      else 0
    end + 1e-9 * greatest(1, abs(published)) as roughly
  from differing
  join means on means.run_id = differing.run_id and means.metric_id = differing.metric_id
  join worst on worst.run_id = differing.run_id and worst.metric_id = differing.metric_id
),
held as (
  select
    figures.*,
    coalesce(abs(published - missing) <= roughly, false) as as_missing,
    coalesce(abs(published - attempts) <= roughly, false) as as_attempts,
    coalesce(abs(published - all_wrong) <= roughly, false) as as_wrong
  from figures
)
select
  run_id,
  model,
  benchmark,
  split,
  metric_id,
  metric,
  metric_filter,
  statistic,
  published,
  missing,
  attempts,
  all_wrong,
  n_unscored,
  coalesce(n_absent, 0) as n_absent,
  case
    when as_missing and as_attempts and as_wrong then 'missing attempts all-wrong'
    when as_missing and as_attempts then 'missing attempts'
    when as_missing and as_wrong then 'missing all-wrong'
    when as_attempts and as_wrong then 'attempts all-wrong'
    when as_missing then 'missing'
    when as_attempts then 'attempts'
    when as_wrong then 'all-wrong'
    else ''
  end as reproduces_under
from held
where n_unscored > 0 or n_absent > 0
order by
  run_id nulls last, metric nulls last, metric_filter nulls last, statistic nulls last
