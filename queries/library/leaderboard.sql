-- Every current run on a benchmark by its headline metric, best first.
-- The command `warehouse leaderboard` pools repeats and gives better intervals; this is the table.
-- grain: one row per current run with a figure
-- parameter: benchmark text -- name of the benchmark
-- parameter: metric text = '' -- name of a metric; empty for the headline metric
-- parameter: limit integer = 50 -- rows at most
-- columns:
--   place: rank inside the metric and split, 1 is best; unknown direction: higher is better
--   model: name of the model
--   run_id: id of the run
--   training_seed: label of the trained replicate
--   revision: published revision of the weights
--   position: place in training
--   agent: scaffold around the model; '' if none
--   split: part of the benchmark
--   fewshot: examples in the prompt
--   temperature: sampling temperature
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   estimate: the figure, in the metric's reported unit
--   standard_error: of the figure; null if unknown or 0
--   ci_normal_low: estimate - 1.959963984540054 standard_error
--   ci_normal_high: estimate + 1.959963984540054 standard_error
--   n_prompts: prompts behind it
--   n_draws: generations behind it
--   status: complete, truncated or failed
--   origin: recomputed or published
select
  rank() over (
    partition by s.metric_id, r.split
    order by case when s.higher_is_better = false then s.estimate else - s.estimate end nulls last
  ) as place,
  r.model,
  r.run_id,
  r.training_seed,
  r.revision,
  r.position,
  r.agent,
  r.split,
  r.fewshot,
  r.temperature,
  s.metric,
  s.metric_filter,
  s.estimate,
  s.standard_error,
  s.estimate - 1.959963984540054 * s.standard_error as ci_normal_low,
  s.estimate + 1.959963984540054 * s.standard_error as ci_normal_high,
  s.n_prompts,
  s.n_draws,
  r.status,
  s.origin
from run_score s
join run_current r on r.run_id = s.run_id
where r.benchmark = :benchmark
  and ((:metric = '' and s.is_default) or s.metric = :metric)
order by r.split nulls last, s.metric_id nulls last, place nulls last, r.run_id nulls last
limit :limit
