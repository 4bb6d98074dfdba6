-- How often two who judge prefer the same model. Both judged a question and pair of models; the
-- verdict of each is the mean of its votes there, whichever order they were shown in: above, at or
-- below a half. A tie counts half, also one of two bad answers.
-- grain: one row per benchmark and pair of scorers with a question and pair that both judged
-- columns:
--   benchmark: name that its alias points to, else its own
--   scorer: who judges: its name, else the model that judges
--   scorer_kind: human, model, match or execution
--   other_scorer: who judges as well
--   other_kind: human, model, match or execution
--   n_units: pairs of answers that both judged
--   n_agree: those of them with the same verdict
--   agreement: their share
--   scorer_id: id of the scorer
--   other_scorer_id: id of the other
with verdict as (
  select
    benchmark,
    scorer_id,
    scorer,
    scorer_kind,
    prompt_id,
    model_a,
    model_b,
    avg(case outcome when 'a' then 1.0 when 'b' then 0.0 else 0.5 end) as mean_vote
  from preference_current
  where outcome is not null and prompt_id is not null
  group by benchmark, scorer_id, scorer, scorer_kind, prompt_id, model_a, model_b
),
sided as (
  select
    verdict.*,
    case when mean_vote > 0.5 then 1 when mean_vote < 0.5 then -1 else 0 end as side
  from verdict
)
select
  own.benchmark,
  own.scorer,
  own.scorer_kind,
  counterpart.scorer as other_scorer,
  counterpart.scorer_kind as other_kind,
  count(*) as n_units,
  count(case when own.side = counterpart.side then 1 end) as n_agree,
  -- exp gives a double on every engine
  count(case when own.side = counterpart.side then 1 end) * exp(0) / count(*) as agreement,
  own.scorer_id,
  counterpart.scorer_id as other_scorer_id
from sided own
join sided counterpart
  on counterpart.benchmark = own.benchmark
  and counterpart.prompt_id = own.prompt_id
  and counterpart.model_a = own.model_a
  and counterpart.model_b = own.model_b
  and counterpart.scorer_id > own.scorer_id
group by
  own.benchmark, own.scorer, own.scorer_kind, counterpart.scorer, counterpart.scorer_kind,
  own.scorer_id, counterpart.scorer_id
