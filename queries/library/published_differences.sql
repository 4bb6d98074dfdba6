-- Published figures that the samples do not give exactly, with the verdict on each.
-- grain: one row per published figure whose verdict is neither exact nor rounded
-- parameter: benchmark text = '' -- name of a benchmark; empty for all
-- parameter: verdict text = '' -- null_as_worst, not_recomputable, truncated or contradicts
-- columns:
--   run_id: id of the run; null for the figure of a group of benchmarks
--   model: name of the run's model
--   benchmark: name of the benchmark or group
--   split: part of the benchmark
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   statistic: mean, pass@k, pass^k, best …
--   published: the figure as published
--   recomputed: the figure from samples
--   null_as_worst: the figure if samples without a score count as the worst score
--   difference: published - recomputed
--   n_found: prompts with a score
--   n_declared: prompts that the figure or the run should cover
--   verdict: null_as_worst, not_recomputable, truncated or contradicts
select
  run_id,
  model,
  benchmark,
  split,
  metric,
  metric_filter,
  statistic,
  published,
  recomputed,
  null_as_worst,
  difference,
  n_found,
  n_declared,
  verdict
from published_against_recomputed
where verdict not in ('exact', 'rounded')
  and (:benchmark = '' or benchmark = :benchmark)
  and (:verdict = '' or verdict = :verdict)
order by
  run_id nulls last, benchmark nulls last, metric nulls last, metric_filter nulls last,
  statistic nulls last
