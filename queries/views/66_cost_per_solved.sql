-- What was spent for each prompt that a run solved, failures paid for as well: mean cost over mean
-- score, of prompts of which both are known. Of metrics that are plain means of scores from 0 to
-- 1, higher is better.
-- grain: one row per current run, metric and kind of cost that is known of any scored prompt
-- columns:
--   run_id: id of the run
--   model: name of the model
--   benchmark: name of the benchmark
--   split: part of the benchmark; '' if it has only one
--   metric_id: id of the metric
--   metric: its name
--   metric_filter: its filter; '' if none
--   cost: `cost`, `cost_priced`, `tokens`, `seconds` or `calls` (`prompt_cost`)
--   n_prompts: prompts with score and cost
--   n_missing_cost: scored prompts without a cost
--   score_missing: mean score of those
--   estimate: mean score of the prompts with both
--   mean_cost: of an answer to them
--   cost_per_solved: null where nothing was solved
with known as (
  select run_id, cost
  from prompt_cost
  where mean is not null
  group by run_id, cost
),
held as (
  select
    scored.run_id,
    scored.metric_id,
    known.cost,
    count(spent.mean) as n_prompts,
    count(*) - count(spent.mean) as n_missing_cost,
    avg(case when spent.mean is null then scored.value end) as score_missing,
    avg(case when spent.mean is not null then scored.value end) as estimate,
    avg(spent.mean) as mean_cost,
    min(scored.value) as lowest,
    max(scored.value) as highest,
    max(scored.weight) - min(scored.weight) as uneven
  from prompt_score scored
  join known on known.run_id = scored.run_id
  left join prompt_cost spent
    on spent.run_id = scored.run_id
    and spent.prompt_id = scored.prompt_id
    and spent.cost = known.cost
  where scored.perturbation = '' and scored.value is not null
  group by scored.run_id, scored.metric_id, known.cost
)
select
  r.run_id,
  r.model,
  r.benchmark,
  r.split,
  held.metric_id,
  metric.name as metric,
  metric.filter as metric_filter,
  held.cost,
  held.n_prompts,
  held.n_missing_cost,
  held.score_missing,
  held.estimate,
  held.mean_cost,
  held.mean_cost / nullif(held.estimate, 0) as cost_per_solved
from held
join run_current r on r.run_id = held.run_id
join run on run.id = held.run_id
join metric
  on metric.id = held.metric_id
  and metric.link = 'identity'
join headline_metric
  on headline_metric.benchmark_id = run.benchmark_id
  and headline_metric.metric_id = held.metric_id
  and headline_metric.higher_is_better
where held.n_prompts > 0 and held.lowest >= 0 and held.highest <= 1 and held.uneven = 0
