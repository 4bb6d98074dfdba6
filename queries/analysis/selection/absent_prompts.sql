-- Prompts that whole runs were to be asked and have no row of, where the benchmark has just the
-- prompts that the run says it covers, so that it is known which are absent.
-- grain: one row per run, metric of the run and absent prompt
-- columns: worst: the worst score of the metric; null if it has no bound on its bad side, or no
--   known direction
with covered as (
  select run.id as run_id, run.benchmark_id, run.split
  from run
  where run.id in (:run_ids) and run.status = 'complete' and run.n_found < run.n_requested
    and run.n_requested = (
      select count(*) from prompt
      where prompt.benchmark_id = run.benchmark_id and prompt.split = run.split
    )
)
select covered.run_id, run_metric.metric_id, prompt.id as prompt_id,
    case when described.higher_is_better is null then null
      when described.higher_is_better
        then coalesce(described.low, case when described.kind = 'binary' then 0 end)
      else coalesce(described.high, case when described.kind = 'binary' then 1 end)
      end as worst
from covered
join run_metric on run_metric.run_id = covered.run_id and run_metric.metric_id in (:metric_ids)
join prompt on prompt.benchmark_id = covered.benchmark_id and prompt.split = covered.split
left join benchmark_metric described on described.benchmark_id = covered.benchmark_id
    and described.metric_id = run_metric.metric_id
where not exists (
    select 1 from prompt_score fact
    where fact.run_id = covered.run_id and fact.prompt_id = prompt.id
  )
order by covered.run_id, run_metric.metric_id, prompt.id
