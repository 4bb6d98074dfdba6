-- The newest figure of each kind that a refresh computed: default intervals, ranks, and the like.
-- grain: one row per subject, benchmark, metric and statistic
-- columns:
--   refresh_id: id of the refresh
--   refreshed_at: end of the refresh [UTC]
--   subject_kind: what the figure is about: condition, row, part, pair, step or benchmark
--   subject: its natural key: model#key of the condition, two of them for a pair
--   benchmark: name of the benchmark
--   metric: name of the metric
--   statistic: score, difference, rank …
--   method: how it was computed
--   method_version: version of the method
--   estimate: the figure, in the metric's reported unit
--   standard_error: of the figure
--   low: lower end of its interval
--   high: upper end of its interval
--   n: prompts behind it
--   n_clusters: clusters behind it
--   reason: why there is no figure or no interval
--   input_fingerprint: family and version, then hashes of what was asked, of data and of settings
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
  input_fingerprint,
  previous_estimate,
  change
from metric_history
where age = 1 and method <> 'gone'
