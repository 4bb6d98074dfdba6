-- One figure per run and metric: recomputed from samples, else as published by the source; of a
-- truncated run the published one, if there is one: its samples are a part of what it covers.
-- Training curves and other dumps of aggregates have published figures only. (Both kinds are put
-- in one list and grouped: some engines plan a full join of the two badly.)
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
    published_figure.run_id,
    published_figure.metric_id,
    published_figure.value,
    nullif(published_figure.standard_error, 0) as standard_error,
    published_figure.n,
    row_number() over (
      partition by published_figure.run_id, published_figure.metric_id
      order by
        case when published_figure.statistic = 'aggregate' then 1 else 0 end nulls last,
        published_figure.statistic nulls last, published_figure.source_id nulls last
    ) as place
  from published_figure
  join run on run.id = published_figure.run_id
  where published_figure.statistic in ('mean', 'pass@1', 'aggregate')
    and published_figure.perturbation = ''
    and published_figure.value is not null
    and run.status <> 'invalidated' and run.superseded_by is null
),
figures as (
  select
    run_id, metric_id, n_draws,
    estimate as recomputed, standard_error as recomputed_error, n_prompts as recomputed_n,
    nullif(estimate, estimate) as published, nullif(estimate, estimate) as published_error,
    nullif(n_prompts, n_prompts) as published_n
  from score_summary
  union all
  select
    run_id, metric_id, null as n_draws,
    null as recomputed, null as recomputed_error, null as recomputed_n,
    value as published, standard_error as published_error, n as published_n
  from published
  where place = 1
),
merged as ( -- one of each: a sum keeps what is infinite, which the maximum of some engines does not
  select
    run_id,
    metric_id,
    sum(recomputed) as recomputed,
    max(recomputed_error) as recomputed_error,
    max(recomputed_n) as recomputed_n,
    max(n_draws) as n_draws,
    sum(published) as published,
    max(published_error) as published_error,
    max(published_n) as published_n
  from figures
  group by run_id, metric_id
),
chosen as (
  select
    merged.*,
    run.benchmark_id,
    case when merged.recomputed is null then 'published'
      when run.status = 'truncated' and merged.published is not null
        and (merged.published_n is null or merged.recomputed_n < merged.published_n)
        then 'published'
      else 'recomputed' end as origin
  from merged
  join run on run.id = merged.run_id
  where coalesce(merged.recomputed, merged.published) is not null
)
select
  chosen.run_id,
  chosen.metric_id,
  metric.name as metric,
  metric.filter as metric_filter,
  headline_metric.is_default,
  headline_metric.higher_is_better,
  case when chosen.origin = 'published' then chosen.published
    else chosen.recomputed end as estimate,
  case when chosen.origin = 'published' then chosen.published_error
    else chosen.recomputed_error end as standard_error,
  case when chosen.origin = 'published' then chosen.published_n
    else chosen.recomputed_n end as n_prompts,
  case when chosen.recomputed is not null then chosen.n_draws end as n_draws,
  chosen.origin
from chosen
join metric on metric.id = chosen.metric_id
left join headline_metric
  on headline_metric.benchmark_id = chosen.benchmark_id
  and headline_metric.metric_id = chosen.metric_id
