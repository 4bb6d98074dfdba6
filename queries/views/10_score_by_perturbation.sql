-- Estimate and standard errors of every run, a row for each perturbation ('' = headline form).
-- A figure is link(sum(w v) / sum(w)) over prompt means v with weights w (1 for plain means).
-- Errors of weighted means are those of weighted_error; all are times the slope of the link.
-- Clusters are the benchmark's default clustering; a prompt outside it is a cluster of its own.
-- grain: one row per current run, metric and perturbation
-- columns:
--   run_id: id of the run
--   condition_key: what was measured; equal for repeats
--   model: name of the model
--   training_seed: label of the trained replicate
--   checkpoint: key of the checkpoint
--   position: place in training, in position_unit
--   position_unit: step, tokens or epoch
--   revision: published revision of the weights
--   agent: scaffold around the model; '' if none
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   perturbation: perturbation or prompt format; '' is the headline form
--   metric_id: id of the metric
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   is_default: the metric is the benchmark's headline metric
--   higher_is_better: direction; null if unknown
--   estimate: the figure, in the metric's reported unit; infinite with an infinite score; null if
--     no prompt was scored, if scores are infinite on both sides, or if the figure cannot be
--     computed from samples (link 'none')
--   standard_error: se_cr2 with clusters, else se_clt; null if not defined or 0: the figure of
--     leaderboard and compare
--   ci_normal_low: estimate - 1.959963984540054 standard_error
--   ci_normal_high: estimate + 1.959963984540054 standard_error
--   n_prompts: prompts with a score
--   n_clusters: clusters among them; null if the benchmark has no default clustering
--   n_draws: generations behind the scores
--   n_unscored: samples without a score
--   n_prompts_unscored: prompts of which no sample was scored
--   method: cr2, clt, or why there is no standard error
--   se_clt: error as if prompts were independent [Miller eq. 1; HC2 where weighted]; null below two
--     prompts
--   se_bernoulli: error of a proportion [Miller eq. 2]; only for 0/1 scores with one draw each
--   se_clustered: the paper's clustered error [Miller eq. 4]; null below two clusters
--   se_cr0: cluster-robust error without correction
--   se_cr1: se_cr0 * sqrt(G / (G - 1))
--   se_cr2: each cluster's squared sum over 1 - its share of the prompts [Bell, McCaffrey 2002]
with totals as (
  select
    fact.run_id,
    fact.metric_id,
    fact.perturbation,
    avg(fact.value) as mean,
    var_pop(fact.value) as variance,
    min(fact.value) = max(fact.value) as is_constant,
    bool_and(fact.value is null or (fact.is_binary and fact.n_draws = 1)) as is_bernoulli,
    count(fact.value) as n_prompts,
    count(*) - count(fact.value) as n_prompts_unscored,
    cast(sum(case when fact.value is not null then fact.n_draws end) as bigint) as n_draws,
    cast(sum(fact.n_unscored) as bigint) as n_unscored
  from prompt_score fact
  join run on run.id = fact.run_id
  where run.status <> 'invalidated' and run.superseded_by is null
  group by fact.run_id, fact.metric_id, fact.perturbation
),
units as (
  select
    fact.run_id,
    fact.metric_id,
    fact.perturbation,
    max(prompt_cluster.cluster_id) as cluster_id,
    count(*) as n,
    sum(fact.value) as total
  from prompt_score fact
  join run on run.id = fact.run_id
  join benchmark on benchmark.id = run.benchmark_id
  left join prompt_cluster
    on prompt_cluster.clustering_id = benchmark.default_clustering_id
    and prompt_cluster.prompt_id = fact.prompt_id
  where fact.value is not null
    and benchmark.default_clustering_id is not null
    and run.status <> 'invalidated' and run.superseded_by is null
  group by
    fact.run_id, fact.metric_id, fact.perturbation,
    coalesce(prompt_cluster.cluster_id, -1 - fact.prompt_id)
),
clustered as (
  select
    totals.run_id,
    totals.metric_id,
    totals.perturbation,
    totals.mean,
    totals.variance,
    totals.is_constant,
    totals.is_bernoulli,
    totals.n_prompts,
    totals.n_prompts_unscored,
    totals.n_draws,
    totals.n_unscored,
    case when count(units.cluster_id) > 0 then count(units.n) end as g,
    sum(power((units.total - mean * units.n) / n_prompts, 2)) as cr0,
    sum(
      power(units.total - mean * units.n, 2)
      / nullif(n_prompts - units.n, 0) / n_prompts
    ) as cr2,
    max(abs(units.total - mean * units.n)) / n_prompts as largest_pull
  from totals
  left join units
    on units.run_id = totals.run_id
    and units.metric_id = totals.metric_id
    and units.perturbation = totals.perturbation
  group by
    totals.run_id, totals.metric_id, totals.perturbation, totals.mean, totals.variance,
    totals.is_constant, totals.is_bernoulli, totals.n_prompts, totals.n_prompts_unscored,
    totals.n_draws, totals.n_unscored
),
errors as (
  select
    clustered.run_id,
    clustered.metric_id,
    clustered.perturbation,
    n_prompts,
    n_prompts_unscored,
    n_draws,
    n_unscored,
    is_constant,
    is_bernoulli and weighted_error.run_id is null as is_proportion,
    g,
    coalesce(weighted_error.mean, clustered.mean) as r,
    case
      when is_constant then 0
      else coalesce(weighted_error.hc0, variance / nullif(n_prompts, 0))
    end as hc0,
    weighted_error.hc2,
    case
      when is_constant then 0
      when weighted_error.cr0 is not null then weighted_error.cr0
      when largest_pull > 1e-12 * sqrt(variance) then clustered.cr0
      else 0
    end as cr0,
    case
      when is_constant then 0
      when weighted_error.cr2 is not null then weighted_error.cr2
      when largest_pull > 1e-12 * sqrt(variance) then clustered.cr2
      else 0
    end as cr2
  from clustered
  left join weighted_error
    on weighted_error.run_id = clustered.run_id
    and weighted_error.metric_id = clustered.metric_id
    and weighted_error.perturbation = clustered.perturbation
),
figures as (
  select
    errors.*,
    metric.name as metric,
    metric.filter as metric_filter,
    case
      when metric.link = 'identity' then r
      when metric.link = 'neg_over_ln2' then - r / ln(2)
      when metric.link = 'exp_neg' and abs(r) < 700 then exp(- r)
    end as estimate,
    case
      when metric.link = 'identity' then 1
      when metric.link = 'neg_over_ln2' then 1 / ln(2)
      when metric.link = 'exp_neg' and abs(r) < 700 then exp(- r)
    end as slope,
    metric.link as link
  from errors
  join metric on metric.id = errors.metric_id
),
counted as ( -- infinite scores are scores, and the mean with one of them is infinite
  select
    figures.run_id,
    figures.metric_id,
    figures.perturbation,
    figures.metric,
    figures.metric_filter,
    figures.link,
    figures.slope,
    figures.r,
    figures.hc0,
    figures.hc2,
    figures.cr0,
    figures.cr2,
    figures.g,
    figures.is_constant,
    figures.is_proportion,
    case
      when infinite.n_above is null then figures.estimate
      when infinite.n_above > 0 and infinite.n_below > 0 then null
      when figures.link = 'identity' and infinite.n_above > 0
        then cast('Infinity' as double precision)
      when figures.link = 'identity' then cast('-Infinity' as double precision)
      when figures.link = 'neg_over_ln2' and infinite.n_above > 0
        then cast('-Infinity' as double precision)
      when figures.link = 'exp_neg' and infinite.n_above > 0 then 0
      when figures.link in ('neg_over_ln2', 'exp_neg')
        then cast('Infinity' as double precision)
    end as estimate,
    figures.n_prompts as n_finite,
    figures.n_prompts + coalesce(infinite.n_prompts_only, 0) as n_prompts,
    figures.n_prompts_unscored - coalesce(infinite.n_prompts_only, 0) as n_prompts_unscored,
    coalesce(figures.n_draws, 0) + coalesce(infinite.n_above + infinite.n_below, 0) as n_draws,
    figures.n_unscored - coalesce(infinite.n_above + infinite.n_below, 0) as n_unscored,
    infinite.n_above,
    infinite.n_below
  from figures
  left join infinite_score infinite
    on infinite.run_id = figures.run_id
    and infinite.metric_id = figures.metric_id
    and infinite.perturbation = figures.perturbation
),
sized as (
  select
    counted.*,
    case when n_above is null
      then slope * sqrt(coalesce(hc2, hc0 * n_finite / nullif(n_finite - 1, 0))) end as se_clt,
    case when n_above is null and is_proportion and link = 'identity'
      then sqrt(r * (1 - r) / nullif(n_finite, 0)) end as se_bernoulli,
    case when n_above is null and g > 1
      then slope * sqrt(cr0 + hc0 / (n_finite - 1)) end as se_clustered,
    case when n_above is null and g > 1 then slope * sqrt(cr0) end as se_cr0,
    case when n_above is null and g > 1 then slope * sqrt(cr0 * g / (g - 1)) end as se_cr1,
    case when n_above is null and g > 1 then slope * sqrt(cr2) end as se_cr2
  from counted
),
headline as (
  select
    sized.*,
    nullif(case when g is not null then se_cr2 else se_clt end, 0) as standard_error
  from sized
)
select
  headline.run_id,
  current_run.condition_key,
  current_run.model,
  current_run.training_seed,
  current_run.checkpoint,
  current_run.position,
  current_run.position_unit,
  current_run.revision,
  current_run.agent,
  current_run.benchmark,
  current_run.split,
  headline.perturbation,
  headline.metric_id,
  headline.metric,
  headline.metric_filter,
  headline_metric.is_default,
  headline_metric.higher_is_better,
  headline.estimate,
  headline.standard_error,
  headline.estimate - 1.959963984540054 * headline.standard_error as ci_normal_low,
  headline.estimate + 1.959963984540054 * headline.standard_error as ci_normal_high,
  headline.n_prompts,
  headline.g as n_clusters,
  headline.n_draws,
  headline.n_unscored,
  headline.n_prompts_unscored,
  case
    when headline.n_prompts = 0 then 'none: no prompt was scored'
    when headline.link = 'none' then 'none: the figure is no mean of these scores'
    when headline.n_above > 0 and headline.n_below > 0 then 'none: infinite on both sides'
    when headline.n_above is not null then 'none: infinite'
    when headline.estimate is null then 'none: the link overflows'
    when headline.n_prompts = 1 then 'none: a single prompt'
    when headline.g = 1 then 'none: a single cluster'
    when headline.is_constant then 'none: all scores are equal'
    when headline.standard_error is null then 'none: the error is 0'
    when headline.g is not null then 'cr2'
    else 'clt'
  end as method,
  headline.se_clt,
  headline.se_bernoulli,
  headline.se_clustered,
  headline.se_cr0,
  headline.se_cr1,
  headline.se_cr2
from headline
join run_current current_run on current_run.run_id = headline.run_id
left join headline_metric
  on headline_metric.benchmark_id = current_run.benchmark_id
  and headline_metric.metric_id = headline.metric_id
