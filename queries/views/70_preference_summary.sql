-- Votes between two models, counted. Two checkpoints of one model are one, votes on answers of runs
-- that are superseded or invalidated are none; votes that two sources hold are counted twice.
-- grain: one row per benchmark, scorer and pair of models with votes
-- columns:
--   benchmark: name that its alias points to, else its own
--   scorer: who judges: its name, else the model that judges
--   scorer_kind: human, model, match or execution
--   model_a: one of the two models, under the name that its alias points to
--   model_b: the other
--   n_votes: votes, those without a verdict included
--   n_wins_a: votes for model_a
--   n_wins_b: votes for model_b
--   n_ties: votes that both are equally good
--   n_both_bad: votes that both are bad
--   n_no_verdict: votes without a verdict
--   n_voters: people who are told apart, where people vote
--   n_prompts: questions, as far as they are known
--   n_first_a: votes where the answer of model_a was shown first
--   n_first_b: where that of model_b was
--   scorer_id: id of the scorer
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
    least(a.model_id, b.model_id) as one_id,
    greatest(a.model_id, b.model_id) as other_id,
    case
      when a.model_id > b.model_id and held.outcome = 'a' then 'b'
      when a.model_id > b.model_id and held.outcome = 'b' then 'a'
      else held.outcome
    end as outcome,
    case
      when a.model_id > b.model_id and held.first = 'a' then 'b'
      when a.model_id > b.model_id and held.first = 'b' then 'a'
      else held.first
    end as shown_first,
    nullif(held.voter, '') as voter,
    coalesce(prompt_link.canonical_prompt_id, held.prompt_id) as question_id
  from preference held
  join benchmark on benchmark.id = held.benchmark_id
  join shown a on a.id = held.checkpoint_a_id
  join shown b on b.id = held.checkpoint_b_id
  left join prompt_link on prompt_link.prompt_id = held.prompt_id
  left join run run_a on run_a.id = held.run_a_id
  left join run run_b on run_b.id = held.run_b_id
  where
    a.model_id <> b.model_id
    and run_a.superseded_by is null and run_b.superseded_by is null
    and coalesce(run_a.status, '') <> 'invalidated' and coalesce(run_b.status, '') <> 'invalidated'
),
counted as (
  select
    shown_id,
    scorer_id,
    one_id,
    other_id,
    count(*) as n_votes,
    count(case when outcome = 'a' then 1 end) as n_wins_a,
    count(case when outcome = 'b' then 1 end) as n_wins_b,
    count(case when outcome = 'tie' then 1 end) as n_ties,
    count(case when outcome = 'both_bad' then 1 end) as n_both_bad,
    count(case when outcome is null then 1 end) as n_no_verdict,
    count(distinct voter) as n_voters,
    count(distinct question_id) as n_prompts,
    count(case when shown_first = 'a' then 1 end) as n_first_a,
    count(case when shown_first = 'b' then 1 end) as n_first_b
  from vote
  group by shown_id, scorer_id, one_id, other_id
)
select
  benchmark.name as benchmark,
  coalesce(nullif(scorer.name, ''), nullif(scorer.judge_model, ''), scorer.kind) as scorer,
  scorer.kind as scorer_kind,
  one.name as model_a,
  other.name as model_b,
  counted.n_votes,
  counted.n_wins_a,
  counted.n_wins_b,
  counted.n_ties,
  counted.n_both_bad,
  counted.n_no_verdict,
  counted.n_voters,
  counted.n_prompts,
  counted.n_first_a,
  counted.n_first_b,
  counted.scorer_id
from counted
join benchmark on benchmark.id = counted.shown_id
join scorer on scorer.id = counted.scorer_id
join model one on one.id = counted.one_id
join model other on other.id = counted.other_id
