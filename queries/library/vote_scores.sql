-- The votes of one scorer as scores of the models that they are between: 1 won, 0 lost, 0.5 a tie.
-- As a table of its own (--csv, then ingest) they are answers that `judge next` can draw from, and
-- `--corrected` gives each model's win rate against those that it met.
-- grain: one row per model, question and opponent that have a verdict
-- parameter: benchmark text -- name of the benchmark
-- parameter: scorer text -- who judges, as in preference_current
-- columns:
--   model: name that its alias points to, else its own
--   benchmark: name of the benchmark, and 'wins'
--   prompt_id: id of the question, and the opponent
--   score: mean of its verdicts by weight [0 to 1]
with vote as (
  select *
  from preference_current
  where benchmark = :benchmark and scorer = :scorer and outcome is not null
    and prompt_id is not null
),
side as (
  select
    model_a as model,
    model_b as opponent,
    prompt_id as question,
    weight,
    case outcome when 'a' then 1.0 when 'b' then 0.0 else 0.5 end as won
  from vote
  union all
  select
    model_b,
    model_a,
    prompt_id,
    weight,
    case outcome when 'b' then 1.0 when 'a' then 0.0 else 0.5 end
  from vote
)
select
  model,
  :benchmark || ' wins' as benchmark,
  question || ' against ' || opponent as prompt_id,
  sum(weight * won) / sum(weight) as score
from side
group by model, opponent, question
order by model nulls last, opponent nulls last, question nulls last
