-- Figures that got worse: the newest run since a date against the newest run before it.
-- Runs are matched by model, agent, benchmark, split and settings, whatever their checkpoint. The
-- error is that of unpaired runs: `warehouse compare` on the two run ids is sharper. Where fewer
-- than ten prompts of a run are right, or wrong, its own error may be 0 by chance: that of the
-- change is then not less than Wilson's intervals of both make it (Newcombe 1998, method 10), as
-- `compare --unpaired` has it; scores between bounds count as answers, clusters by design effect.
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
    s.n_prompts,
    s.origin,
    s.standard_error,
    r.benchmark_id,
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
    and abs(s.estimate) < cast('Infinity' as double precision) -- infinite ones have no error
    and (:benchmark = '' or r.benchmark = :benchmark)
),
sized as (
  select
    dated.*,
    -- 0 where all scores are equal; unknown where the figure alone is published
    coalesce(dated.standard_error, case when summary.se_clt = 0 then 0 end) as own_error,
    case when dated.origin = 'recomputed' and metric.link = 'identity' and high > low
      and dated.estimate >= low and dated.estimate <= high
      then (dated.estimate - low) / (high - low) end as share,
    high - low as width,
    dated.n_prompts * case
      when summary.n_clusters is null then 1
      when summary.se_clt > 0 and summary.se_cr2 > 0
        then least(1, summary.se_clt * summary.se_clt / (summary.se_cr2 * summary.se_cr2))
      else 1e0 * summary.n_clusters / dated.n_prompts end as effective_n
  from dated
  join metric on metric.id = dated.metric_id
  left join benchmark_metric
    on benchmark_metric.benchmark_id = dated.benchmark_id
    and benchmark_metric.metric_id = dated.metric_id
  left join score_summary summary
    on summary.run_id = dated.run_id and summary.metric_id = dated.metric_id
  where dated.age = 1
),
intervals as (
  select
    sized.*,
    effective_n * least(share, 1 - share) < 10 as is_few,
    3.841458820694124e0 / effective_n as r
  from sized
),
ends as (
  select
    intervals.*,
    width * ((share + r / 2 - sqrt(r * (share * (1 - share) + r / 4))) / (1 + r) - share)
      / 1.959963984540054e0 as below,
    width * ((share + r / 2 + sqrt(r * (share * (1 - share) + r / 4))) / (1 + r) - share)
      / 1.959963984540054e0 as above
  from intervals
),
matched as (
  select
    model, agent, benchmark, split, metric_id, higher_is_better,
    max(run_id) filter (where not is_after) as run_before,
    max(run_id) filter (where is_after) as run_after,
    max(estimate) filter (where not is_after) as estimate_before,
    max(estimate) filter (where is_after) as estimate_after,
    sqrt(sum(own_error * own_error)) as pair_error,
    bool_or(is_few) as is_few,
    max(below) filter (where not is_after) as below_before,
    max(above) filter (where not is_after) as above_before,
    max(below) filter (where is_after) as below_after,
    max(above) filter (where is_after) as above_after
  from ends
  group by
    model, agent, benchmark, split, task_version, formulation, fewshot, temperature,
    reasoning_effort, metric_id, higher_is_better
  having count(own_error) = 2
),
pairs as (
  select
    matched.*,
    estimate_after - estimate_before as change,
    nullif(greatest(
      pair_error,
      case
        when not is_few then pair_error
        when estimate_after < estimate_before
          then sqrt(below_before * below_before + above_after * above_after)
        else sqrt(above_before * above_before + below_after * below_after)
      end
    ), 0) as change_error
  from matched
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
  pairs.change,
  pairs.change_error as standard_error,
  pairs.change / pairs.change_error as z
from pairs
join metric on metric.id = pairs.metric_id
where case when pairs.higher_is_better = false then 1 else -1 end
  * pairs.change / pairs.change_error >= :min_z
order by
  abs(pairs.change) / pairs.change_error desc nulls last,
  pairs.run_after nulls last
