-- The votes of one scorer as scores of the models that they are between: 1 won, 0 lost, 0.5 a tie.
-- As a table of its own (--csv, then ingest) they are answers that `judge next` can draw from, and
-- `--corrected` gives each model's win rate against those that it met.
-- grain: one row per model, question and opponent that have a verdict
-- parameter: benchmark text -- name of the benchmark
-- parameter: scorer text -- who judges, as in preference_current
-- columns:
--   model: name that its alias points to, else its own
--   benchmark: name of the benchmark, and 'wins'
--   split: part of the benchmark
--   prompt_id: the question's own id, whatever the store numbers it, and the opponent
--   text: the question, where it is known
--   metric: who judges, so that two who do are never taken for one
--   score: mean of its verdicts by weight [0 to 1]
with vote as (
  select preference_current.*, prompt.split, prompt.key as question, prompt.text
  from preference_current
  join prompt on prompt.id = preference_current.prompt_id
  where benchmark = :benchmark and scorer = :scorer and outcome is not null
),
side as (
  select
    model_a as model,
    model_b as opponent,
    split,
    question,
    text,
    weight,
    case outcome when 'a' then 1.0 when 'b' then 0.0 else 0.5 end as won
  from vote
  union all
  select
    model_b,
    model_a,
    split,
    question,
    text,
    weight,
    case outcome when 'b' then 1.0 when 'a' then 0.0 else 0.5 end
  from vote
)
select
  model,
  :benchmark || ' wins' as benchmark,
  split,
  question || ' against ' || opponent as prompt_id,
  min(text) as text,
  :scorer as metric,
  sum(weight * won) / sum(weight) as score
from side
group by model, opponent, split, question
order by model nulls last, opponent nulls last, split nulls last, question nulls last
