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
--   estimate: the figure, in the metric's reported unit; null if no prompt was scored or if the
--     figure cannot be computed from samples (link 'none')
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
with scored as (
  select
    fact.run_id,
    fact.metric_id,
    fact.perturbation,
    fact.value,
    fact.weight * fact.value as wv,
    case when fact.value is not null then fact.weight end as w,
    case when fact.value is not null then fact.n_draws end as n_draws,
    case when fact.value is not null then fact.is_binary and fact.n_draws = 1 end as is_bernoulli,
    fact.n_unscored,
    prompt_cluster.cluster_id is not null as in_cluster
  from prompt_score fact
  join run on run.id = fact.run_id
  join benchmark on benchmark.id = run.benchmark_id
  left join prompt_cluster
    on prompt_cluster.clustering_id = benchmark.default_clustering_id
    and prompt_cluster.prompt_id = fact.prompt_id
  where run.status <> 'invalidated' and run.superseded_by is null
),
halves as (
  select
    run_id,
    metric_id,
    perturbation,
    in_cluster,
    count(value) as n,
    count(*) - count(value) as n_missing,
    sum(n_draws) as n_draws,
    sum(n_unscored) as n_unscored,
    sum(w) as w,
    sum(wv) as wv,
    var_pop(wv) as var_wv,
    covar_pop(wv, w) as cov_wv_w,
    var_pop(w) as var_w,
    min(w) as lowest_w,
    max(w) as highest_w,
    min(value) as lowest,
    max(value) as highest,
    bool_and(is_bernoulli) as is_bernoulli
  from scored
  group by run_id, metric_id, perturbation, in_cluster
),
centred as (
  select
    halves.*,
    sum(wv) over whole / nullif(sum(w) over whole, 0) as ratio
  from halves
  window whole as (partition by run_id, metric_id, perturbation)
),
spread as (
  select
    centred.*,
    n * greatest(var_wv - 2 * ratio * cov_wv_w + ratio * ratio * var_w, 0)
      + (wv - ratio * w) * (wv - ratio * w) / nullif(n, 0) as squares
  from centred
),
totals as (
  select
    run_id,
    metric_id,
    perturbation,
    min(ratio) as r,
    cast(sum(n) as bigint) as n_prompts,
    cast(sum(n_missing) as bigint) as n_prompts_unscored,
    cast(sum(n_draws) as bigint) as n_draws,
    cast(sum(n_unscored) as bigint) as n_unscored,
    cast(coalesce(sum(n) filter (where not in_cluster), 0) as bigint) as n_alone,
    sum(w) / nullif(sum(n), 0) as mean_w,
    sum(squares) as squares,
    coalesce(sum(squares) filter (where not in_cluster), 0) as alone_squares,
    min(lowest) = max(highest) as is_constant,
    bool_and(is_bernoulli) and min(lowest_w) = max(highest_w) as is_proportion
  from spread
  group by run_id, metric_id, perturbation
),
cluster_sums as (
  select
    fact.run_id,
    fact.metric_id,
    fact.perturbation,
    prompt_cluster.cluster_id,
    count(*) as n,
    sum(fact.weight) as w,
    sum(fact.weight * fact.value) as wv
  from prompt_score fact
  join run on run.id = fact.run_id
  join benchmark on benchmark.id = run.benchmark_id
  join prompt_cluster
    on prompt_cluster.clustering_id = benchmark.default_clustering_id
    and prompt_cluster.prompt_id = fact.prompt_id
  where fact.value is not null
    and run.status <> 'invalidated' and run.superseded_by is null
  group by fact.run_id, fact.metric_id, fact.perturbation, prompt_cluster.cluster_id
),
clusters as (
  select
    totals.run_id,
    totals.metric_id,
    totals.perturbation,
    totals.r,
    totals.n_prompts,
    totals.n_prompts_unscored,
    totals.n_draws,
    totals.n_unscored,
    totals.n_alone,
    totals.mean_w,
    totals.squares,
    totals.alone_squares,
    totals.is_constant,
    totals.is_proportion,
    count(cluster_sums.cluster_id) as n_clusters,
    sum(power(cluster_sums.wv - totals.r * cluster_sums.w, 2)) as square_sums,
    sum(
      power(cluster_sums.wv - totals.r * cluster_sums.w, 2)
      * totals.n_prompts / nullif(totals.n_prompts - cluster_sums.n, 0)
    ) as adjusted_sums,
    max(abs(cluster_sums.wv - totals.r * cluster_sums.w)) as largest_sum
  from totals
  left join cluster_sums
    on cluster_sums.run_id = totals.run_id
    and cluster_sums.metric_id = totals.metric_id
    and cluster_sums.perturbation = totals.perturbation
  group by
    totals.run_id, totals.metric_id, totals.perturbation, totals.r, totals.n_prompts,
    totals.n_prompts_unscored, totals.n_draws, totals.n_unscored, totals.n_alone, totals.mean_w,
    totals.squares, totals.alone_squares, totals.is_constant, totals.is_proportion
),
errors as (
  select
    clusters.*,
    n_clusters > 0 as is_clustered,
    n_clusters + n_alone as g,
    case when is_constant then 0 else squares / nullif(mean_w * mean_w, 0) end as all_squares,
    case
      when is_constant or (largest_sum <= 1e-12 * sqrt(squares * n_prompts) and n_alone = 0)
        then 0
      else (square_sums + alone_squares) / nullif(mean_w * mean_w, 0)
    end as robust_squares,
    case
      when is_constant or (largest_sum <= 1e-12 * sqrt(squares * n_prompts) and n_alone = 0)
        then 0
      else (adjusted_sums + alone_squares * n_prompts / nullif(n_prompts - 1, 0))
        / nullif(mean_w * mean_w, 0)
    end as adjusted_squares
  from clusters
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
sized as (
  select
    figures.*,
    slope * coalesce(
      sqrt(weighted_error.hc2),
      sqrt(all_squares / nullif(n_prompts - 1, 0) / n_prompts)
    ) as se_clt,
    case when is_proportion and link = 'identity'
      then sqrt(r * (1 - r) / nullif(n_prompts, 0)) end as se_bernoulli,
    case when is_clustered and g > 1
      then slope * sqrt(robust_squares + all_squares / (n_prompts - 1)) / n_prompts
      end as se_clustered,
    case when is_clustered and g > 1 then slope * sqrt(robust_squares) / n_prompts end as se_cr0,
    case when is_clustered and g > 1
      then slope * sqrt(robust_squares * g / (g - 1)) / n_prompts end as se_cr1,
    case
      when is_clustered and g > 1 and adjusted_squares > 0 and weighted_error.cr2 is not null
        then slope * sqrt(weighted_error.cr2)
      when is_clustered and g > 1 then slope * sqrt(adjusted_squares) / n_prompts
      end as se_cr2
  from figures
  left join weighted_error
    on weighted_error.run_id = figures.run_id
    and weighted_error.metric_id = figures.metric_id
    and weighted_error.perturbation = figures.perturbation
),
headline as (
  select
    sized.*,
    nullif(case when is_clustered then se_cr2 else se_clt end, 0) as standard_error
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
  case when headline.is_clustered then headline.g end as n_clusters,
  coalesce(headline.n_draws, 0) as n_draws,
  headline.n_unscored,
  headline.n_prompts_unscored,
  case
    when headline.n_prompts = 0 then 'none: no prompt was scored'
    when headline.link = 'none' then 'none: the figure is no mean of these scores'
    when headline.estimate is null then 'none: the link overflows'
    when headline.n_prompts = 1 then 'none: a single prompt'
    when headline.is_clustered and headline.g = 1 then 'none: a single cluster'
    when headline.is_constant then 'none: all scores are equal'
    when headline.standard_error is null then 'none: the error is 0'
    when headline.is_clustered then 'cr2'
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
