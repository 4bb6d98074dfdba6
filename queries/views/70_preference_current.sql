-- Votes between two models that count, under the names that aliases point to. Two checkpoints of
-- one model are one; a model against itself, and answers of runs that are superseded or
-- invalidated, are left out; votes that two sources hold stand twice.
-- grain: one row per vote
-- columns:
--   source_id: id of the source
--   benchmark: name that its alias points to, else its own
--   prompt_id: id of the question, or of that which it is linked to; null if unknown
--   variant_id: id of the form of the question, or of the judge's instructions
--   scorer: who judges: its name, else the model that judges
--   scorer_kind: human, model, match or execution
--   voter: the person among people; null if unknown
--   model_a: one of the two models, under the name that its alias points to
--   model_b: the other
--   first: whose answer was shown first: a, b or unknown
--   outcome: the better one, a or b; tie; both_bad; null where there is no verdict
--   weight: weight of the vote
--   draw: which of several votes by the same on the same
--   scorer_id: id of the scorer
with shown as (
  select
    checkpoint.id,
    coalesce(named.id, model.id) as model_id,
    coalesce(named.name, model.name) as name
  from checkpoint
  join training_seed on training_seed.id = checkpoint.training_seed_id
  join model on model.id = training_seed.model_id
  left join model named on named.id = model.canonical_id
)
select
  held.source_id,
  coalesce(named_benchmark.name, benchmark.name) as benchmark,
  coalesce(prompt_link.canonical_prompt_id, held.prompt_id) as prompt_id,
  held.variant_id,
  coalesce(nullif(scorer.name, ''), nullif(scorer.judge_model, ''), scorer.kind) as scorer,
  scorer.kind as scorer_kind,
  nullif(held.voter, '') as voter,
  case when a.model_id < b.model_id then a.name else b.name end as model_a,
  case when a.model_id < b.model_id then b.name else a.name end as model_b,
  case
    when a.model_id > b.model_id and held.first = 'a' then 'b'
    when a.model_id > b.model_id and held.first = 'b' then 'a'
    else held.first
  end as first,
  case
    when a.model_id > b.model_id and held.outcome = 'a' then 'b'
    when a.model_id > b.model_id and held.outcome = 'b' then 'a'
    else held.outcome
  end as outcome,
  held.weight,
  held.draw,
  held.scorer_id
from preference held
join benchmark on benchmark.id = held.benchmark_id
left join benchmark named_benchmark on named_benchmark.id = benchmark.canonical_id
join scorer on scorer.id = held.scorer_id
join shown a on a.id = held.checkpoint_a_id
join shown b on b.id = held.checkpoint_b_id
left join prompt_link on prompt_link.prompt_id = held.prompt_id
left join run run_a on run_a.id = held.run_a_id
left join run run_b on run_b.id = held.run_b_id
where
  a.model_id <> b.model_id
  and run_a.superseded_by is null and run_b.superseded_by is null
  and coalesce(run_a.status, '') <> 'invalidated' and coalesce(run_b.status, '') <> 'invalidated'
