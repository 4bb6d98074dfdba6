-- Figures that got worse: the newest run since a date against the newest run before it.
-- Runs are matched by model, agent, benchmark, split and settings, whatever their checkpoint. The
-- error is that of unpaired runs: `warehouse compare` on the two run ids is sharper.
-- grain: one row per model, setting, benchmark, split and headline metric that got worse
-- parameter: since timestamp -- start of what counts as new [UTC]
-- parameter: benchmark text = '' -- name of a benchmark; empty for all
-- parameter: min_z number = 1.96 -- standard errors that the figure must have got worse by
-- columns:
--   model: name of the model
--   agent: scaffold around the model; '' if none
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   run_before: id of the run before
--   run_after: id of the run since
--   estimate_before: figure before
--   estimate_after: figure since
--   change: estimate_after - estimate_before
--   standard_error: of the change, runs unpaired
--   z: change / standard_error
with dated as (
  select
    r.model,
    r.agent,
    r.benchmark,
    r.split,
    r.task_version,
    r.formulation,
    r.fewshot,
    r.temperature,
    r.reasoning_effort,
    s.metric_id,
    s.higher_is_better,
    s.estimate,
    s.standard_error,
    r.run_id,
    r.started_at >= :since as is_after,
    row_number() over (
      partition by
        r.model, r.agent, r.benchmark, r.split, r.task_version, r.formulation, r.fewshot,
        r.temperature, r.reasoning_effort, s.metric_id, r.started_at >= :since
      order by r.started_at desc nulls last, r.run_id desc nulls last
    ) as age
  from run_score s
  join run_current r on r.run_id = s.run_id
  where s.is_default
    and r.started_at is not null
    and (:benchmark = '' or r.benchmark = :benchmark)
),
pairs as (
  select
    model, agent, benchmark, split, metric_id, higher_is_better,
    max(run_id) filter (where not is_after) as run_before,
    max(run_id) filter (where is_after) as run_after,
    max(estimate) filter (where not is_after) as estimate_before,
    max(estimate) filter (where is_after) as estimate_after,
    sqrt(sum(standard_error * standard_error)) as pair_error
  from dated
  where age = 1
  group by
    model, agent, benchmark, split, task_version, formulation, fewshot, temperature,
    reasoning_effort, metric_id, higher_is_better
  having count(standard_error) = 2
)
select
  pairs.model,
  pairs.agent,
  pairs.benchmark,
  pairs.split,
  metric.name as metric,
  metric.filter as metric_filter,
  pairs.run_before,
  pairs.run_after,
  pairs.estimate_before,
  pairs.estimate_after,
  pairs.estimate_after - pairs.estimate_before as change,
  pairs.pair_error as standard_error,
  (pairs.estimate_after - pairs.estimate_before) / pairs.pair_error as z
from pairs
join metric on metric.id = pairs.metric_id
where case when pairs.higher_is_better = false then 1 else -1 end
  * (pairs.estimate_after - pairs.estimate_before) / pairs.pair_error >= :min_z
order by
  abs(pairs.estimate_after - pairs.estimate_before) / pairs.pair_error desc nulls last,
  pairs.run_after nulls last
