-- Metrics with scores on a benchmark which the benchmark does not list.
-- grain: one row per benchmark and metric
-- columns:
--   benchmark_id: id of the benchmark
--   metric_id: id of the metric
--   n: runs with such scores
with used as (
  select distinct run_id, metric_id
  from prompt_score
)
select run.benchmark_id, used.metric_id, count(*) as n
from used
join run on run.id = used.run_id
where not exists (
  select 1
  from benchmark_metric listed
  where listed.benchmark_id = run.benchmark_id and listed.metric_id = used.metric_id
)
group by run.benchmark_id, used.metric_id
order by run.benchmark_id nulls last, used.metric_id nulls last
