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
with shown as (
  select checkpoint.id, coalesce(model.canonical_id, model.id) as model_id
  from checkpoint
  join training_seed on training_seed.id = checkpoint.training_seed_id
  join model on model.id = training_seed.model_id
),
vote as (
  select
    coalesce(benchmark.canonical_id, benchmark.id) as shown_id,
    held.scorer_id,
    coalesce(prompt_link.canonical_prompt_id, held.prompt_id) as question_id,
    least(a.model_id, b.model_id) as one_id,
    greatest(a.model_id, b.model_id) as other_id,
    case
      when held.outcome = 'a' and a.model_id < b.model_id then 1.0
      when held.outcome = 'b' and a.model_id > b.model_id then 1.0
      when held.outcome in ('tie', 'both_bad') then 0.5
      else 0.0
    end as value
  from preference held
  join benchmark on benchmark.id = held.benchmark_id
  join shown a on a.id = held.checkpoint_a_id
  join shown b on b.id = held.checkpoint_b_id
  left join prompt_link on prompt_link.prompt_id = held.prompt_id
  left join run run_a on run_a.id = held.run_a_id
  left join run run_b on run_b.id = held.run_b_id
  where
    a.model_id <> b.model_id and held.outcome is not null and held.prompt_id is not null
    and run_a.superseded_by is null and run_b.superseded_by is null
    and coalesce(run_a.status, '') <> 'invalidated' and coalesce(run_b.status, '') <> 'invalidated'
),
verdict as (
  select
    shown_id,
    scorer_id,
    question_id,
    one_id,
    other_id,
    case when avg(value) > 0.5 then 1 when avg(value) < 0.5 then -1 else 0 end as side
  from vote
  group by shown_id, scorer_id, question_id, one_id, other_id
),
both_judged as (
  select
    own.shown_id,
    own.scorer_id,
    other.scorer_id as other_scorer_id,
    count(*) as n_units,
    count(case when own.side = other.side then 1 end) as n_agree
  from verdict own
  join verdict other
    on other.shown_id = own.shown_id
    and other.question_id = own.question_id
    and other.one_id = own.one_id
    and other.other_id = own.other_id
    and other.scorer_id > own.scorer_id
  group by own.shown_id, own.scorer_id, other.scorer_id
)
select
  benchmark.name as benchmark,
  coalesce(nullif(scorer.name, ''), nullif(scorer.judge_model, ''), scorer.kind) as scorer,
  scorer.kind as scorer_kind,
  coalesce(nullif(counterpart.name, ''), nullif(counterpart.judge_model, ''), counterpart.kind) as other_scorer,
  counterpart.kind as other_kind,
  both_judged.n_units,
  both_judged.n_agree,
  both_judged.n_agree * exp(0) / both_judged.n_units as agreement,  -- a double on every engine
  both_judged.scorer_id,
  both_judged.other_scorer_id
from both_judged
join benchmark on benchmark.id = both_judged.shown_id
join scorer on scorer.id = both_judged.scorer_id
join scorer counterpart on counterpart.id = both_judged.other_scorer_id
