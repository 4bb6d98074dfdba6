-- Metrics that a person said are another name of one (warehouse fix alias --metric).
-- grain: one row per benchmark and metric
-- columns: counts_as: label of the other one, as NAME or NAME,FILTER; what was said of the
--   benchmark comes before what was said of every one
select benchmark_metric.benchmark_id, benchmark_metric.metric_id,
    coalesce(
      min(case when declaration.benchmark <> '' then declaration.said end),
      min(declaration.said)
    ) as counts_as
from declaration
cross join benchmark_metric
join benchmark on benchmark.id = benchmark_metric.benchmark_id
join metric on metric.id = benchmark_metric.metric_id
left join benchmark spoken on spoken.name = declaration.benchmark
where declaration.about = 'metric alias'
  and benchmark_metric.benchmark_id in (:benchmark_ids)
  and declaration.subject
    = metric.name || case when metric.filter = '' then '' else ',' || metric.filter end
  and (
    declaration.benchmark = ''
    or coalesce(spoken.canonical_id, spoken.id)
      = coalesce(benchmark.canonical_id, benchmark.id)
  )
group by benchmark_metric.benchmark_id, benchmark_metric.metric_id
