-- Every figure that a refresh computed, with the figure before.
-- grain: one row per finished refresh that changed it, subject, benchmark, metric and statistic
-- columns:
--   refresh_id: id of the refresh
--   refreshed_at: end of the refresh [UTC]
--   subject_kind: what the figure is about: condition, row, part, pair, step or benchmark
--   subject: its natural key: model#key of the condition, two of them for a pair
--   benchmark: name of the benchmark
--   metric: name of the metric
--   statistic: score, difference, rank …
--   method: how it was computed; gone where the figure is no longer there
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
--   age: 1 for the newest figure, 2 for the one before …
select
  metric_value.refresh_id,
  refresh.finished_at as refreshed_at,
  metric_value.subject_kind,
  metric_value.subject,
  metric_value.benchmark,
  metric_value.metric,
  metric_value.statistic,
  metric_value.method,
  metric_value.method_version,
  metric_value.estimate,
  metric_value.standard_error,
  metric_value.low,
  metric_value.high,
  metric_value.n,
  metric_value.n_clusters,
  metric_value.reason,
  metric_value.input_fingerprint,
  lead(metric_value.estimate) over newest_first as previous_estimate,
  metric_value.estimate - lead(metric_value.estimate) over newest_first as change,
  row_number() over newest_first as age
from metric_value
join refresh on refresh.id = metric_value.refresh_id
where refresh.finished_at is not null
window newest_first as (
  partition by
    metric_value.subject_kind, metric_value.subject, metric_value.benchmark, metric_value.metric,
    metric_value.statistic
  order by metric_value.refresh_id desc nulls last
)
