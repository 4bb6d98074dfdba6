-- Every current run on a benchmark by its headline metric, best first.
-- The command `warehouse leaderboard` pools repeats and gives better intervals; this is the table.
-- grain: one row per current run with a figure
-- parameter: benchmark text -- name of the benchmark
-- parameter: metric text = '' -- name of a metric; empty for the headline metric
-- parameter: limit integer = 50 -- rows at most
-- columns:
--   place: rank inside the metric and split, 1 is best; unknown direction: higher is better; null
--     for a part of the benchmark, one prompt or a published figure beside scores of all prompts
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
with covered as (
  select
    s.*,
    coalesce(c.n_prompts + c.n_prompts_unscored, s.n_prompts) as n_seen
  from run_score s
  left join score_summary c
    on c.run_id = s.run_id and c.metric_id = s.metric_id and s.origin = 'recomputed'
),
marked as (
  select
    s.*,
    r.model,
    r.training_seed,
    r.revision,
    r.position,
    r.agent,
    r.split,
    r.fewshot,
    r.temperature,
    r.status,
    case
      when r.status <> 'complete' then 3
      when s.n_seen < coalesce(
        r.n_benchmark,
        max(case when s.origin = 'recomputed' then s.n_seen end)
          over (partition by s.metric_id, r.split)
      ) then 3
      when s.origin = 'published' then 1
      when s.n_prompts < 2 then 2
      else 0
    end as standing
  from covered s
  join run_current r on r.run_id = s.run_id
  where r.benchmark = :benchmark
    and ((:metric = '' and s.is_default) or s.metric = :metric)
),
ranked as (
  select
    marked.*,
    min(standing) over (partition by metric_id, split) as best_standing,
    rank() over (
      partition by metric_id, split, standing
      order by case when higher_is_better = false then estimate else - estimate end nulls last
    ) as own_place
  from marked
)
select
  case when standing = best_standing then own_place end as place,
  model,
  run_id,
  training_seed,
  revision,
  position,
  agent,
  split,
  fewshot,
  temperature,
  metric,
  metric_filter,
  estimate,
  standard_error,
  estimate - 1.959963984540054 * standard_error as ci_normal_low,
  estimate + 1.959963984540054 * standard_error as ci_normal_high,
  n_prompts,
  n_draws,
  status,
  origin
from ranked
order by
  case when standing = best_standing then 0 else 1 end nulls last, split nulls last,
  metric_id nulls last, standing nulls last, own_place nulls last, run_id nulls last
limit :limit
