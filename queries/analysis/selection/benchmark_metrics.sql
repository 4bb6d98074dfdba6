-- Metrics of benchmarks, with their scorer, what is known of their values, and the metric that a
-- person said each is another name of (warehouse fix alias --metric).
-- grain: one row per benchmark and metric
-- columns: counts_as: label of that metric, as NAME or NAME,FILTER; null: it is none
with said as (
  select
    benchmark.id as benchmark_id,
    declaration.subject as label,
    coalesce(
      min(case when declaration.benchmark <> '' then declaration.said end),
      min(declaration.said)
    ) as counts_as
  from declaration
  cross join benchmark
  left join benchmark spoken on spoken.name = declaration.benchmark
  where declaration.about = 'metric alias'
    and benchmark.id in (:benchmark_ids)
    and (
      declaration.benchmark = ''
      or coalesce(spoken.canonical_id, spoken.id) = coalesce(benchmark.canonical_id, benchmark.id)
    )
  group by benchmark.id, declaration.subject
)
select benchmark_metric.benchmark_id, metric.id, metric.name, metric.filter, metric.unit,
    metric.link, scorer.name as scorer, scorer.judge_model, scorer.parameters_key,
    headline_metric.is_default, headline_metric.n_runs, benchmark_metric.kind,
    benchmark_metric.low, benchmark_metric.high, headline_metric.higher_is_better,
    scorer.kind as scorer_kind, said.counts_as
from benchmark_metric
join metric on metric.id = benchmark_metric.metric_id
join scorer on scorer.id = metric.scorer_id
join headline_metric on headline_metric.benchmark_id = benchmark_metric.benchmark_id
    and headline_metric.metric_id = metric.id
left join said on said.benchmark_id = benchmark_metric.benchmark_id
    and said.label
      = metric.name || case when metric.filter = '' then '' else ',' || metric.filter end
where benchmark_metric.benchmark_id in (:benchmark_ids)
