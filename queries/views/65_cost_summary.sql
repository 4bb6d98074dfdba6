-- What the answers of a run cost, one row for each kind of cost: how much is known, and the means
-- that `frontier`, `compare --cost` and `gate --cheaper` go by. Four costs and two dollars
-- (`prompt_cost`), never added up.
-- grain: one row per current run with generations and kind of cost
-- columns:
--   run_id: id of the run
--   model: name of the model
--   benchmark: name of the benchmark
--   split: part of the benchmark; '' if it has only one
--   cost: `cost`, `cost_priced`, `tokens`, `seconds` or `calls`
--   n_generations: answers to unperturbed prompts
--   n_known: those of which it is known
--   n_missing: the others; they count in no figure
--   total: sum of what is known, null where nothing is
--   n_prompts: prompts with a known cost
--   mean_cost: of an answer: mean over prompts of the mean over their generations
--   largest: of a prompt
--   largest_share: its share of the sum over prompts: near 1, one prompt decides
select
  r.run_id,
  r.model,
  r.benchmark,
  r.split,
  spent.cost,
  cast(sum(spent.n_generations) as bigint) as n_generations,
  cast(sum(spent.n_known) as bigint) as n_known,
  cast(sum(spent.n_generations - spent.n_known) as bigint) as n_missing,
  sum(spent.total) as total,
  count(spent.mean) as n_prompts,
  avg(spent.mean) as mean_cost,
  max(spent.mean) as largest,
  max(spent.mean) / nullif(sum(spent.mean), 0) as largest_share
from prompt_cost spent
join run_current r on r.run_id = spent.run_id
group by r.run_id, r.model, r.benchmark, r.split, spent.cost
