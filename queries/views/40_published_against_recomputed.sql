-- Figures that sources publish, against the same figures recomputed from their samples.
-- The verdict says what explains a published figure, the first that holds: not_recomputable (no
-- samples, or no mean of them), truncated (the run is, or its samples cover fewer prompts than
-- declared), exact (to 1e-9), rounded (equal at the decimals that are published), null_as_worst (if
-- samples without a score count as the worst score), contradicts. What explains a published
-- standard error is in the view published_errors.
-- grain: one row per published figure of a current run, or of a group of benchmarks
-- columns:
--   source_id: id of the source that publishes it
--   run_group_id: id of the invocation
--   run_id: id of the run; null for the figure of a group of benchmarks
--   model: name of the run's model
--   benchmark: name of the benchmark or group
--   split: part of the benchmark
--   metric_id: id of the metric
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   statistic: mean, pass@k and pass^k (from draws: any, or all of k are right), best (mean over
--     prompts of the best draw) …
--   perturbation: perturbation or prompt format; '' is the headline form
--   published: the figure as published
--   published_standard_error: its standard error as published; 0 is 0
--   n_published: prompts behind it as published
--   recomputed: the figure from samples; for groups the mean of their benchmarks, or the mean
--     weighted by prompts where that is what fits
--   recomputed_standard_error: error as if prompts were independent (se_clt), for means; for groups
--     that of the mean that recomputed is: of benchmarks as one mean of k means, of prompts pooled
--   difference: published - recomputed
--   standard_error_difference: published_standard_error - recomputed_standard_error
--   published_error_is: of a group, which mean the published error belongs to: benchmarks (their
--     mean, each alike), prompts (their mean weighted by prompts), pooled_prompts (the same from a
--     variance that benchmarks share: lm-evaluation-harness), unexplained; null for runs
--   null_as_worst: the figure if samples without a score count as the worst score
--   n_found: prompts with a score
--   n_prompts_unscored: prompts of which no sample was scored
--   n_declared: prompts that the source says the figure, or else the run, covers
--   status: of the run
--   verdict: not_recomputable, truncated, exact, rounded, null_as_worst or contradicts
with wanted as (
  select distinct run_id, metric_id, perturbation from published_score where run_id is not null
),
filled as (
  select
    fact.run_id,
    fact.metric_id,
    fact.perturbation,
    sum(
      fact.weight * (
        coalesce(fact.value, 0) * fact.n_scored
        + case
          when benchmark_metric.kind = 'binary' then 0
          when benchmark_metric.higher_is_better = false then benchmark_metric.high
          else coalesce(benchmark_metric.low, 0)
        end * fact.n_unscored
      ) / nullif(fact.n_scored + fact.n_unscored, 0)
    ) / nullif(sum(fact.weight), 0) as null_as_worst
  from prompt_score fact
  join wanted
    on wanted.run_id = fact.run_id
    and wanted.metric_id = fact.metric_id
    and wanted.perturbation = fact.perturbation
  join run on run.id = fact.run_id
  join metric on metric.id = fact.metric_id
  left join benchmark_metric
    on benchmark_metric.benchmark_id = run.benchmark_id
    and benchmark_metric.metric_id = fact.metric_id
  where metric.link = 'identity'
  group by fact.run_id, fact.metric_id, fact.perturbation
),
wanted_best as (
  select distinct run_id, metric_id, perturbation
  from published_score
  where run_id is not null and statistic = 'best'
),
best_draw as (
  select
    fact.run_id,
    fact.metric_id,
    prompt_variant.perturbation,
    fact.prompt_id,
    max(fact.value) as largest,
    min(fact.value) as smallest
  from score fact
  join prompt_variant on prompt_variant.id = fact.variant_id
  join wanted_best
    on wanted_best.run_id = fact.run_id
    and wanted_best.metric_id = fact.metric_id
    and wanted_best.perturbation = prompt_variant.perturbation
  where fact.value is not null and fact.draw >= 0
  group by fact.run_id, fact.metric_id, prompt_variant.perturbation, fact.prompt_id
),
best as (
  select
    best_draw.run_id,
    best_draw.metric_id,
    best_draw.perturbation,
    avg(case when benchmark_metric.higher_is_better = false then best_draw.smallest
      else best_draw.largest end) as estimate
  from best_draw
  join run on run.id = best_draw.run_id
  left join benchmark_metric
    on benchmark_metric.benchmark_id = run.benchmark_id
    and benchmark_metric.metric_id = best_draw.metric_id
  group by best_draw.run_id, best_draw.metric_id, best_draw.perturbation
),
summary as materialized ( -- a row a figure; planning it twice outweighs a small store's answer
  select run_id, metric_id, perturbation, estimate, se_clt, n_prompts, n_prompts_unscored
  from score_by_perturbation
),
group_mean as (
  select
    r.run_group_id,
    tree.ancestor_id as benchmark_id,
    s.metric_id,
    avg(s.estimate) as of_benchmarks,
    sum(s.estimate * s.n_prompts) / sum(s.n_prompts) as of_prompts,
    cast(sum(s.n_prompts) as bigint) as n_prompts,
    cast(sum(s.n_prompts_unscored) as bigint) as n_prompts_unscored,
    case when count(s.se_clt) = count(*) then sqrt(sum(s.se_clt * s.se_clt)) / count(*) end
      as benchmarks_error,
    case when count(s.se_clt) = count(*)
      then sqrt(sum(1e0 * s.n_prompts * s.n_prompts * s.se_clt * s.se_clt)) / sum(s.n_prompts) end
      as prompts_error,
    case when count(s.se_clt) = count(*)
      then sqrt(
        sum(1e0 * (s.n_prompts - 1) * s.n_prompts * s.se_clt * s.se_clt)
        / nullif(sum(s.n_prompts) - count(*), 0) / sum(s.n_prompts)
      ) end as pooled_error
  from summary s
  join run_current r on r.run_id = s.run_id
  join benchmark_tree tree on tree.benchmark_id = r.benchmark_id
  where s.perturbation = '' and s.estimate is not null and tree.distance > 0
  group by r.run_group_id, tree.ancestor_id, s.metric_id
),
joined as (
  select
    p.source_id,
    p.run_group_id,
    p.run_id,
    r.model,
    coalesce(r.benchmark, named_benchmark.name, benchmark.name) as benchmark_name,
    case when p.split = '' then coalesce(r.split, '') else p.split end as part,
    p.metric_id,
    p.statistic,
    p.perturbation,
    p.value as published,
    p.standard_error as published_error,
    p.n as n_published,
    case
      when p.run_id is null and p.statistic = 'mean' then
        case when abs(p.value - group_mean.of_prompts) < abs(p.value - group_mean.of_benchmarks)
          then group_mean.of_prompts else group_mean.of_benchmarks end
      when p.statistic in ('mean', 'pass@1') then s.estimate
      when p.statistic = 'best' then best.estimate
      else passed.estimate
    end as recomputed,
    case
      when p.run_id is null and p.statistic = 'mean' then
        case when abs(p.value - group_mean.of_prompts) < abs(p.value - group_mean.of_benchmarks)
          then group_mean.pooled_error else group_mean.benchmarks_error end
      when p.statistic in ('mean', 'pass@1') then s.se_clt
    end as recomputed_error,
    case
      when p.run_id is not null or p.statistic <> 'mean' or p.standard_error is null then null
      when abs(p.standard_error - group_mean.benchmarks_error) <= 1e-4 * p.standard_error
        then 'benchmarks'
      when abs(p.standard_error - group_mean.pooled_error) <= 1e-4 * p.standard_error
        then 'pooled_prompts'
      when abs(p.standard_error - group_mean.prompts_error) <= 1e-4 * p.standard_error
        then 'prompts'
      when group_mean.benchmarks_error is not null then 'unexplained'
    end as error_is,
    case when p.statistic in ('mean', 'pass@1') then filled.null_as_worst
      else passed.null_as_worst end as null_as_worst,
    coalesce(s.n_prompts, group_mean.n_prompts, 0) as n_found,
    coalesce(s.n_prompts_unscored, group_mean.n_prompts_unscored, 0) as n_prompts_unscored,
    coalesce(p.n, r.n_requested, r.n_benchmark) as n_declared,
    r.status
  from published_figure p
  join benchmark on benchmark.id = p.benchmark_id
  left join benchmark named_benchmark on named_benchmark.id = benchmark.canonical_id
  left join run_current r on r.run_id = p.run_id
  left join summary s
    on s.run_id = p.run_id and s.metric_id = p.metric_id and s.perturbation = p.perturbation
  left join filled
    on filled.run_id = p.run_id and filled.metric_id = p.metric_id
    and filled.perturbation = p.perturbation
  left join published_pass passed
    on passed.run_id = p.run_id and passed.metric_id = p.metric_id
    and passed.perturbation = p.perturbation and passed.statistic = p.statistic
  left join best
    on best.run_id = p.run_id and best.metric_id = p.metric_id
    and best.perturbation = p.perturbation
  left join group_mean
    on group_mean.run_group_id = p.run_group_id and group_mean.benchmark_id = p.benchmark_id
    and group_mean.metric_id = p.metric_id and p.run_id is null
  where p.run_id is null or r.run_id is not null
),
tolerance as (
  select
    joined.*,
    1e-9 * greatest(1, abs(published)) as exactly,
    case
      when abs(published) >= 1 and abs(published * 10 - round(published * 10)) < 1e-7 then 0.05
      when abs(published) >= 1 and abs(published * 100 - round(published * 100)) < 1e-7 then 0.005
      when abs(published) >= 0.01 and abs(published * 100 - round(published * 100)) < 1e-9
        then 0.005
      when abs(published) >= 0.001 and abs(published * 1e3 - round(published * 1e3)) < 1e-7
        then 0.0005
      when abs(published * 1e4 - round(published * 1e4)) < 1e-7 then 0.00005
      when abs(published * 1e5 - round(published * 1e5)) < 1e-6 then 0.000005
      when abs(published * 1e6 - round(published * 1e6)) < 1e-6 then 0.0000005
      else 0
    end + 1e-9 * greatest(1, abs(published)) as roughly
  from joined
)
select
  t.source_id,
  t.run_group_id,
  t.run_id,
  t.model,
  t.benchmark_name as benchmark,
  t.part as split,
  t.metric_id,
  metric.name as metric,
  metric.filter as metric_filter,
  t.statistic,
  t.perturbation,
  t.published,
  t.published_error as published_standard_error,
  t.n_published,
  t.recomputed,
  t.recomputed_error as recomputed_standard_error,
  case when t.published = t.recomputed then 0 else t.published - t.recomputed end as difference,
  t.published_error - t.recomputed_error as standard_error_difference,
  t.error_is as published_error_is,
  t.null_as_worst,
  t.n_found,
  t.n_prompts_unscored,
  t.n_declared,
  t.status,
  case
    when coalesce(t.recomputed, t.null_as_worst) is null or t.published is null
      then 'not_recomputable'
    when t.status = 'truncated' or t.n_found + t.n_prompts_unscored < t.n_declared
      then 'truncated'
    when t.published = t.recomputed then 'exact' -- infinite ones, too
    when abs(t.recomputed) = cast('Infinity' as double precision) then 'contradicts'
    when abs(t.published) = cast('Infinity' as double precision) then 'contradicts'
    when abs(t.published - t.recomputed) <= t.exactly then 'exact'
    when abs(t.published - t.recomputed) <= t.roughly then 'rounded'
    when abs(t.published - t.null_as_worst) <= t.roughly then 'null_as_worst'
    when t.recomputed is null then 'not_recomputable'
    else 'contradicts'
  end as verdict
from tolerance t
join metric on metric.id = t.metric_id
