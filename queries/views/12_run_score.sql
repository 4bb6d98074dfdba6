-- One figure per run and metric: recomputed from samples, else as published by the source.
-- Training curves and other dumps of aggregates have published figures only.
-- grain: one row per current run and metric that has a figure
-- columns:
--   run_id: id of the run
--   metric_id: id of the metric
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   is_default: the metric is the benchmark's headline metric
--   higher_is_better: direction; null if unknown
--   estimate: the figure, in the metric's reported unit
--   standard_error: of the figure; null if unknown or 0
--   n_prompts: prompts behind it; null if the source does not say
--   n_draws: generations behind it; null if the source does not say
--   origin: recomputed or published
with published as (
  select
    published_score.run_id,
    published_score.metric_id,
    published_score.value,
    published_score.standard_error,
    published_score.n,
    row_number() over (
      partition by published_score.run_id, published_score.metric_id
      order by published_score.statistic nulls last, published_score.source_id nulls last
    ) as place
  from published_score
  join run_current on run_current.run_id = published_score.run_id
  where published_score.statistic in ('mean', 'pass@1')
    and published_score.perturbation = ''
    and published_score.value is not null
),
recomputed as (
  select
    run_id, metric_id, estimate, standard_error, n_prompts, n_draws
  from score_summary
  where estimate is not null
),
merged as (
  select
    coalesce(recomputed.run_id, published.run_id) as run_id,
    coalesce(recomputed.metric_id, published.metric_id) as metric_id,
    case when recomputed.run_id is null then published.value
      else recomputed.estimate end as estimate,
    case when recomputed.run_id is null then nullif(published.standard_error, 0)
      else recomputed.standard_error end as standard_error,
    case when recomputed.run_id is null then published.n
      else recomputed.n_prompts end as n_prompts,
    recomputed.n_draws,
    case when recomputed.run_id is null then 'published' else 'recomputed' end as origin
  from recomputed
  full join (select * from published where place = 1) published
    on published.run_id = recomputed.run_id and published.metric_id = recomputed.metric_id
)
select
  merged.run_id,
  merged.metric_id,
  metric.name as metric,
  metric.filter as metric_filter,
  benchmark_metric.is_default,
  benchmark_metric.higher_is_better,
  merged.estimate,
  merged.standard_error,
  merged.n_prompts,
  merged.n_draws,
  merged.origin
from merged
join run_current on run_current.run_id = merged.run_id
join metric on metric.id = merged.metric_id
left join benchmark_metric
  on benchmark_metric.benchmark_id = run_current.benchmark_id
  and benchmark_metric.metric_id = merged.metric_id
