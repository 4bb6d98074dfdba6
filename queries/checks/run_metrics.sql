-- Metrics of runs that are not listed once, or that are said to have scores and have none.
-- grain: one row per run and metric that is wrong
-- columns:
--   run_id: id of the run
--   metric_id: id of the metric
--   declared: prompts with a score, as run_metric says; null if it has no row
--   found: as stored
--   n: 1, or rows of run_metric if there are several
with figure as (
  select run_id, metric_id, count(value) as n_scored
  from prompt_score
  group by run_id, metric_id
  union all
  select distinct run_id, metric_id, 0 as n_scored
  from published_score
  where run_id is not null
),
stored as (
  select run_id, metric_id, sum(n_scored) as n_scored
  from figure
  group by run_id, metric_id
),
said as (
  select run_id, metric_id, max(n_scored) as n_scored, count(*) as n_rows
  from run_metric
  group by run_id, metric_id
),
held as (
  select run_id, metric_id, null as declared, n_scored as found, 0 as n_rows
  from stored
  union all
  select run_id, metric_id, n_scored as declared, null as found, n_rows
  from said
),
paired as (
  select run_id, metric_id, max(declared) as declared, max(found) as found, max(n_rows) as n_rows
  from held
  group by run_id, metric_id
)
select run_id, metric_id, declared, found, greatest(n_rows, 1) as n
from paired
where exists (select 1 from run where run.id = paired.run_id)
  and (n_rows <> 1 or found is null or (declared > 0) <> (found > 0))
order by run_id nulls last, metric_id nulls last
