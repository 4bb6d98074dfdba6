-- Published figures with infinite ones, which the table keeps as text.
-- grain: one row per source, run or invocation, metric, statistic, perturbation and split
-- columns:
--   source_id: id of the source that publishes it
--   run_group_id: invocation that it is of
--   run_id: id of the run; null for a figure of several runs
--   benchmark_id: id of the benchmark
--   metric_id: id of the metric
--   statistic: what the figure is: mean, pass@1, aggregate …
--   perturbation: perturbation or prompt format; '' is the headline form
--   split: part of the benchmark; '' for that of the run
--   value: the figure; plus or minus infinity is one
--   standard_error: as published; null if none
--   n: prompts as published; null if unknown
select
  source_id,
  run_group_id,
  run_id,
  benchmark_id,
  metric_id,
  statistic,
  perturbation,
  split,
  case
    when value is not null then value
    when lower(raw) in (
      'inf', '+inf', 'infinity', '+infinity', '"inf"', '"+inf"', '"infinity"', '"+infinity"'
    )
      then cast('Infinity' as double precision)
    when lower(raw) in ('-inf', '-infinity', '"-inf"', '"-infinity"')
      then cast('-Infinity' as double precision)
  end as value,
  standard_error,
  n
from published_score
