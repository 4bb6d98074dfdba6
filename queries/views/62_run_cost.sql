-- What runs cost: as recorded, else by tokens and the price of the day (`warehouse prices`), else
-- as the dump says of the whole run.
-- A price holds from its date until the next one of its model; of a run without a date, the newest.
-- Cached tokens cost the price of cached ones, or that of input where none is stored.
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
with candidate as (
  select
    r.run_id,
    price.valid_from,
    price.input_price,
    price.output_price,
    coalesce(price.cached_price, price.input_price) as cached_price,
    row_number() over (
      partition by r.run_id
      order by
        case when price.model = r.model_recorded then 0 else 1 end nulls last,
        price.valid_from desc nulls last
    ) as rank
  from run_current r
  join price on price.model = r.model_recorded or price.model = r.model
  where r.started_at is null or price.valid_from <= r.started_at
),
spent as (
  select
    fact.run_id,
    fact.cost as recorded,
    case
      when fact.cost is null then (
        (fact.input_tokens - coalesce(way.cached_tokens, 0)) * candidate.input_price
        + coalesce(way.cached_tokens, 0) * candidate.cached_price
        + fact.output_tokens * candidate.output_price
      ) / 1e6
    end as priced,
    candidate.valid_from
  from generation fact
  left join transcript way
    on way.run_id = fact.run_id
    and way.prompt_id = fact.prompt_id
    and way.variant_id = fact.variant_id
    and way.draw = fact.draw
  left join candidate on candidate.run_id = fact.run_id and candidate.rank = 1
),
counted as (
  select
    run_id,
    count(*) as n_generations,
    count(recorded) as n_recorded,
    sum(recorded) as recorded_cost,
    count(priced) as n_priced,
    sum(priced) as priced_cost,
    max(case when priced is not null then valid_from end) as price_date,
    count(*) - count(recorded) - count(priced) as n_unknown,
    case
      when count(*) = count(recorded) + count(priced) then sum(coalesce(recorded, priced))
    end as cost
  from spent
  group by run_id
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
