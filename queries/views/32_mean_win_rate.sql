-- Mean win rate: over the scenarios of a suite, the share of other models that a model beats.
-- Scores are headline metrics, oriented so that more is better (unknown direction: higher is
-- better), equal at 12 significant digits is no win. The scenario score is the mean over its
-- benchmarks, given only to models that have all of them; a scenario with one model is dropped.
-- grain: one row per suite ('' = all benchmarks, each a scenario) and model, checkpoint, agent
-- columns:
--   suite_id: id of the benchmark whose children are the scenarios; null for all benchmarks
--   suite: its name; '' for all benchmarks
--   model: name of the model
--   checkpoint: key of the checkpoint
--   revision: published revision of the weights
--   agent: scaffold around the model; '' if none
--   mean_win_rate: mean over scenarios of wins / (models - 1) [0 to 1]
--   n_scenarios: scenarios that the model has
--   n_scenarios_suite: scenarios of the suite that two or more models have
--   checkpoint_id: id of the checkpoint
--   agent_id: id of the agent
with subject_score as (
  select
    r.model,
    r.checkpoint,
    r.revision,
    r.agent,
    r.checkpoint_id,
    r.agent_id,
    r.benchmark_id,
    r.benchmark,
    r.split,
    s.metric_id,
    nullif(
      avg(case when s.higher_is_better = false then - s.estimate else s.estimate end),
      cast('NaN' as double precision)
    ) as score
  from run_score s
  join run_current r on r.run_id = s.run_id
  where s.is_default
  group by
    r.model, r.checkpoint, r.revision, r.agent, r.checkpoint_id, r.agent_id, r.benchmark_id,
    r.benchmark, r.split, s.metric_id
),
scenario_part as (
  select
    scenario.ancestor_id as suite_id,
    scenario.ancestor as suite,
    scenario.benchmark_id as scenario_id,
    part.benchmark_id
  from benchmark_tree scenario
  join benchmark_tree part on part.ancestor_id = scenario.benchmark_id
  where scenario.distance = 1
  union all
  select
    null as suite_id,
    '' as suite,
    id as scenario_id,
    id as benchmark_id
  from benchmark
),
numbered as materialized ( -- else DuckDB plans it anew for each window below it
  select
    scenario_part.suite_id,
    scenario_part.suite,
    scenario_part.scenario_id,
    subject_score.*,
    dense_rank() over (
      partition by scenario_part.suite, scenario_part.scenario_id
      order by
        subject_score.benchmark_id nulls last, subject_score.split nulls last,
        subject_score.metric_id nulls last
    ) as part_number
  from subject_score
  join scenario_part on scenario_part.benchmark_id = subject_score.benchmark_id
),
counted as (
  select
    numbered.*,
    max(part_number) over (partition by suite, scenario_id) as n_parts
  from numbered
),
scenario_score as (
  select
    suite_id, suite, scenario_id, model, checkpoint, revision, agent, checkpoint_id, agent_id,
    nullif(avg(score), cast('NaN' as double precision)) as mean_score
  from counted
  group by
    suite_id, suite, scenario_id, model, checkpoint, revision, agent, checkpoint_id, agent_id,
    n_parts
  having count(*) = n_parts
),
rounded as (
  select
    scenario_score.*,
    case
      when abs(mean_score) < 1e-200 then 0 * mean_score
      when abs(mean_score) = cast('Infinity' as double precision) then mean_score
      else
      round(mean_score * power(10, 11 - floor(ln(abs(mean_score)) / ln(10))))
        / power(10, 11 - floor(ln(abs(mean_score)) / ln(10)))
    end as comparable
  from scenario_score
),
placed as (
  select
    rounded.*,
    rank() over (partition by suite, scenario_id order by comparable nulls last) - 1 as wins,
    count(*) over (partition by suite, scenario_id) as n_models
  from rounded
),
rated as (
  select
    placed.*,
    case when comparable is not null then exp(0) * wins / (n_models - 1) end as win_rate,
    dense_rank() over (partition by suite order by scenario_id nulls last) as scenario_number
  from placed
  where n_models > 1
),
sized as (
  select
    rated.*,
    max(scenario_number) over (partition by suite) as n_scenarios_suite
  from rated
)
select
  suite_id,
  suite,
  model,
  checkpoint,
  revision,
  agent,
  avg(win_rate) as mean_win_rate,
  count(*) as n_scenarios,
  n_scenarios_suite,
  checkpoint_id,
  agent_id
from sized
group by
  suite_id, suite, model, checkpoint, revision, agent, n_scenarios_suite, checkpoint_id, agent_id
