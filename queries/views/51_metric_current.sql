-- The newest figure of each kind that a refresh computed: default intervals, ranks, and the like.
-- grain: one row per subject, benchmark, metric, statistic and method
-- columns:
--   refresh_id: id of the refresh
--   refreshed_at: end of the refresh [UTC]
--   subject_kind: what the figure is about: run, condition, model, pair …
--   subject: its natural key
--   benchmark: name of the benchmark
--   metric: name of the metric
--   statistic: mean, difference, rank …
--   method: how it was computed
--   method_version: version of the method
--   estimate: the figure, in the metric's reported unit
--   standard_error: of the figure
--   low: lower end of its interval
--   high: upper end of its interval
--   n: prompts behind it
--   n_clusters: clusters behind it
--   reason: why there is no figure or no interval
--   previous_estimate: figure of the refresh before
--   change: estimate - previous_estimate
select
  refresh_id,
  refreshed_at,
  subject_kind,
  subject,
  benchmark,
  metric,
  statistic,
  method,
  method_version,
  estimate,
  standard_error,
  low,
  high,
  n,
  n_clusters,
  reason,
  previous_estimate,
  change
from metric_history
where age = 1
