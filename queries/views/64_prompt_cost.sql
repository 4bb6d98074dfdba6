-- What the answers of a run to a prompt cost, one row for each kind of cost. What a dump does not
-- say is missing, not 0.
-- grain: one row per current run, unperturbed prompt with generations and kind of cost
-- columns:
--   run_id: id of the run
--   prompt_id: id of the prompt
--   cost: `cost` (dollars as recorded), `cost_priced` (dollars by tokens and `run_price`),
--     `tokens` (in and out), `seconds`, `calls` (messages that the model wrote)
--   n_generations: generations of the prompt
--   n_known: those of which it is known
--   total: their sum, null where none is
--   mean: per generation
with told as (
  select
    fact.run_id,
    fact.prompt_id,
    count(*) as n,
    count(fact.cost) as n_cost,
    sum(fact.cost) as cost,
    count(
      (fact.input_tokens - coalesce(way.cached_tokens, 0)) * run_price.input_price
      + fact.output_tokens * run_price.output_price
    ) as n_priced,
    sum(
      (
        fact.input_tokens - coalesce(way.cached_tokens, 0) - coalesce(way.cache_write_tokens, 0)
      ) * run_price.input_price
      + coalesce(way.cached_tokens, 0) * run_price.cached_price
      + coalesce(way.cache_write_tokens, 0) * run_price.cache_write_price
      + (fact.output_tokens - coalesce(way.reasoning_tokens, 0)) * run_price.output_price
      + coalesce(way.reasoning_tokens, 0) * run_price.reasoning_price
    ) / 1e6 as priced,
    count(fact.input_tokens + fact.output_tokens) as n_tokens,
    sum(fact.input_tokens + fact.output_tokens) as tokens,
    count(fact.latency) as n_seconds,
    sum(fact.latency) as seconds,
    count(way.n_turns) as n_calls,
    sum(way.n_turns) as calls
  from generation fact
  join run_current on run_current.run_id = fact.run_id
  join prompt_variant on prompt_variant.id = fact.variant_id and prompt_variant.perturbation = ''
  left join run_price on run_price.run_id = fact.run_id
  left join transcript way
    on way.run_id = fact.run_id
    and way.prompt_id = fact.prompt_id
    and way.variant_id = fact.variant_id
    and way.draw = fact.draw
  group by fact.run_id, fact.prompt_id
),
kind as (
  select 'cost' as cost
  union all
  select 'cost_priced' as cost
  union all
  select 'tokens' as cost
  union all
  select 'seconds' as cost
  union all
  select 'calls' as cost
),
listed as (
  select
    told.run_id,
    told.prompt_id,
    kind.cost,
    told.n as n_generations,
    case kind.cost
      when 'cost' then told.n_cost
      when 'cost_priced' then told.n_priced
      when 'tokens' then told.n_tokens
      when 'seconds' then told.n_seconds
      else told.n_calls
    end as n_known,
    case kind.cost
      when 'cost' then told.cost
      when 'cost_priced' then told.priced
      when 'tokens' then told.tokens
      when 'seconds' then told.seconds
      else told.calls
    end as total
  from told
  cross join kind
)
select
  run_id,
  prompt_id,
  cost,
  n_generations,
  n_known,
  total,
  total / nullif(n_known, 0) as mean
from listed
