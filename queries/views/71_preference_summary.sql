-- Votes between two models (preference_current), counted.
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
select
  benchmark,
  scorer,
  scorer_kind,
  model_a,
  model_b,
  count(*) as n_votes,
  count(case when outcome = 'a' then 1 end) as n_wins_a,
  count(case when outcome = 'b' then 1 end) as n_wins_b,
  count(case when outcome = 'tie' then 1 end) as n_ties,
  count(case when outcome = 'both_bad' then 1 end) as n_both_bad,
  count(case when outcome is null then 1 end) as n_no_verdict,
  count(distinct voter) as n_voters,
  count(distinct prompt_id) as n_prompts,
  count(case when first = 'a' then 1 end) as n_first_a,
  count(case when first = 'b' then 1 end) as n_first_b,
  scorer_id
from preference_current
group by benchmark, scorer, scorer_kind, model_a, model_b, scorer_id
