-- Runs that a judge held against one opponent (AlpacaEval's kind), read as votes against it. They
-- stay runs: their win rate is a score, with the errors of scores.
-- grain: one row per current run with an opponent, prompt and metric from 0 to 1
-- columns:
--   run_id: id of the run
--   benchmark: name that its alias points to, else its own
--   model: name that its alias points to, else its own
--   opponent: the model that it is held against
--   judge_model: the model that judges; '' if none is named
--   prompt_id: id of the question
--   value: how far the judge prefers the model, from 0 to 1
--   outcome: a: the model, b: its opponent, tie; null where there is no verdict
--   metric_id: id of the metric
select
  r.run_id,
  r.benchmark,
  r.model,
  r.opponent,
  scorer.judge_model,
  fact.prompt_id,
  fact.value,
  case
    when fact.value > 0.5 then 'a'
    when fact.value < 0.5 then 'b'
    when fact.value = 0.5 then 'tie'
  end as outcome,
  fact.metric_id
from run_current r
join prompt_score fact on fact.run_id = r.run_id and fact.perturbation = ''
join benchmark_metric described
  on described.benchmark_id = r.benchmark_id
  and described.metric_id = fact.metric_id
join metric on metric.id = fact.metric_id
join scorer on scorer.id = metric.scorer_id
where r.opponent is not null and described.low = 0 and described.high = 1
