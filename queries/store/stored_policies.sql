-- Policies of benchmarks: what samples without a score count as, of each metric that has one; that
-- of a metric by its name, or by one that it is another name of, comes after that of all metrics.
-- grain: one row per benchmark, metric and policy
with said as (
  select declaration.*, coalesce(spoken.canonical_id, spoken.id) as shown_id
  from declaration
  left join benchmark spoken on spoken.name = declaration.benchmark
  where declaration.about in ('policy', 'metric alias')
),
named as (
  select benchmark_metric.benchmark_id, benchmark_metric.metric_id,
      coalesce(benchmark.canonical_id, benchmark.id) as shown_id,
      coalesce(shown.name, benchmark.name) as benchmark,
      metric.name || case when metric.filter = '' then '' else ',' || metric.filter end as label
  from benchmark_metric
  join benchmark on benchmark.id = benchmark_metric.benchmark_id
  left join benchmark shown on shown.id = benchmark.canonical_id
  join metric on metric.id = benchmark_metric.metric_id
)
select named.benchmark_id, named.metric_id, named.benchmark, policy.said, policy.wrong_value,
    policy.declared_at
from named
join said policy on policy.about = 'policy' and policy.shown_id = named.shown_id
left join said other on other.about = 'metric alias' and other.subject = named.label
    and (other.benchmark = '' or other.shown_id = named.shown_id)
where policy.subject in ('', named.label, other.said)
order by named.benchmark_id, named.metric_id, case when policy.subject = '' then 0 else 1 end,
    policy.id
