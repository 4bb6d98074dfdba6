-- What runs cost: as recorded, else by tokens and the price of the day (`warehouse list prices`),
-- else as the dump says of the whole run. Which price holds says `run_price`.
-- grain: one row per current run with generations, or of which the dump says what it cost
-- columns:
--   run_id: id of the run
--   model: name that its alias points to, else its own
--   benchmark: name that its alias points to, else its own
--   split: part of the benchmark; '' if it has only one
--   n_generations: generations of the run
--   n_recorded: those whose cost the dump says
--   recorded_cost: their sum [US dollars]
--   n_priced: those whose tokens are known and whose cost is not, with a price
--   priced_cost: their sum [US dollars]
--   price_date: from when on that price holds
--   n_unknown: generations with neither; missing is not zero
--   stated_cost: what the dump says that the run cost in all [US dollars]
--   cost: recorded and priced together; where any is unknown, the stated one [US dollars]
with told as (  -- before any join: a server would look each generation up in other tables
  select
    run_id,
    count(*) as n_generations,
    count(cost) as n_recorded,
    sum(cost) as recorded_cost,
    count(case when cost is null then input_tokens + output_tokens end) as n_priced,
    sum(case when cost is null and output_tokens is not null then input_tokens end) as input_tokens,
    sum(case when cost is null and input_tokens is not null then output_tokens end) as output_tokens
  from generation
  group by run_id
),
way as (
  select
    way.run_id,
    sum(way.cached_tokens) as cached,
    sum(way.cache_write_tokens) as cache_write,
    sum(way.reasoning_tokens) as reasoning
  from transcript way
  join generation fact
    on fact.run_id = way.run_id
    and fact.prompt_id = way.prompt_id
    and fact.variant_id = way.variant_id
    and fact.draw = way.draw
  where
    coalesce(way.cached_tokens, way.cache_write_tokens, way.reasoning_tokens) is not null
    and fact.cost is null
    and fact.input_tokens is not null and fact.output_tokens is not null
  group by way.run_id
),
priced as (
  select
    told.run_id,
    told.n_generations,
    told.n_recorded,
    told.recorded_cost,
    case when run_price.run_id is null then 0 else told.n_priced end as n_priced,
    (
      (told.input_tokens - coalesce(way.cached, 0) - coalesce(way.cache_write, 0))
        * run_price.input_price
      + coalesce(way.cached, 0) * run_price.cached_price
      + coalesce(way.cache_write, 0) * run_price.cache_write_price
      + (told.output_tokens - coalesce(way.reasoning, 0)) * run_price.output_price
      + coalesce(way.reasoning, 0) * run_price.reasoning_price
    ) / 1e6 as priced_cost,
    case when told.n_priced > 0 then run_price.valid_from end as price_date
  from told
  left join run_price on run_price.run_id = told.run_id
  left join way on way.run_id = told.run_id
),
counted as (
  select
    priced.*,
    n_generations - n_recorded - n_priced as n_unknown,
    case
      when n_generations = n_recorded + n_priced
      then coalesce(recorded_cost, 0) + coalesce(priced_cost, 0)
    end as cost
  from priced
),
-- the cost of an invocation is that of a run where it has no other
alone as (
  select run.run_group_id, max(r.run_id) as run_id
  from run
  left join run_current r on r.run_id = run.id
  group by run.run_group_id
  having count(distinct run.condition_key) = 1 and count(r.run_id) = 1
),
stated as (
  select alone.run_id, run_group.cost
  from alone
  join run_group on run_group.id = alone.run_group_id
  where run_group.cost is not null
)
select
  r.run_id,
  r.model,
  r.benchmark,
  r.split,
  coalesce(counted.n_generations, 0) as n_generations,
  coalesce(counted.n_recorded, 0) as n_recorded,
  counted.recorded_cost,
  coalesce(counted.n_priced, 0) as n_priced,
  counted.priced_cost,
  counted.price_date,
  coalesce(counted.n_unknown, 0) as n_unknown,
  stated.cost as stated_cost,
  coalesce(counted.cost, stated.cost) as cost
from run_current r
left join counted on counted.run_id = r.run_id
left join stated on stated.run_id = r.run_id
where counted.run_id is not null or stated.run_id is not null
