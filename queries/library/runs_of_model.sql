-- All current runs of a model with their headline figures, newest first.
-- grain: one row per current run and headline metric
-- parameter: model text -- name of the model
-- parameter: benchmark text = '' -- name of a benchmark; empty for all
-- columns:
--   run_id: id of the run
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   started_at: start of the run [UTC]
--   training_seed: label of the trained replicate
--   revision: published revision of the weights
--   position: place in training
--   agent: scaffold around the model; '' if none
--   fewshot: examples in the prompt
--   temperature: sampling temperature
--   harness: tool that made the run
--   status: complete, truncated or failed
--   metric: name of the metric; null if the run has no figure
--   metric_filter: filter pipeline of the harness; '' if none
--   estimate: the figure, in the metric's reported unit
--   standard_error: of the figure; null if unknown or 0
--   n_prompts: prompts behind it
--   origin: recomputed or published
select
  r.run_id,
  r.benchmark,
  r.split,
  r.started_at,
  r.training_seed,
  r.revision,
  r.position,
  r.agent,
  r.fewshot,
  r.temperature,
  r.harness,
  r.status,
  s.metric,
  s.metric_filter,
  s.estimate,
  s.standard_error,
  s.n_prompts,
  s.origin
from run_current r
left join run_score s on s.run_id = r.run_id and s.is_default
where r.model = :model
  and (:benchmark = '' or r.benchmark = :benchmark)
order by r.started_at desc nulls last, r.run_id desc nulls last, s.metric_id nulls last
