-- Estimate and standard errors of every run in the headline form of its benchmark.
-- See score_by_perturbation for the formulas. The interval is the normal one, which is what SQL
-- can say exactly; the default intervals of leaderboard and compare are better for small samples.
-- grain: one row per current run and metric
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
select
  run_id,
  condition_key,
  model,
  training_seed,
  checkpoint,
  position,
  position_unit,
  revision,
  agent,
  benchmark,
  split,
  metric_id,
  metric,
  metric_filter,
  is_default,
  higher_is_better,
  estimate,
  standard_error,
  ci_normal_low,
  ci_normal_high,
  n_prompts,
  n_clusters,
  n_draws,
  n_unscored,
  n_prompts_unscored,
  method,
  se_clt,
  se_bernoulli,
  se_clustered,
  se_cr0,
  se_cr1,
  se_cr2
from score_by_perturbation
where perturbation = ''
