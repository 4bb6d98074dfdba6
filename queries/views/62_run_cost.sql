-- What runs cost: as recorded, else by tokens and the price of the day (`warehouse prices`).
-- A price holds from its date until the next one of its model; of a run without a date, the newest.
-- Cached tokens cost the price of cached ones, or that of input where none is stored.
-- grain: one row per current run with generations
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
--   cost: recorded and priced together; null where any is unknown [US dollars]
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
)
select
  spent.run_id,
  min(r.model) as model,
  min(r.benchmark) as benchmark,
  min(r.split) as split,
  count(*) as n_generations,
  count(spent.recorded) as n_recorded,
  sum(spent.recorded) as recorded_cost,
  count(spent.priced) as n_priced,
  sum(spent.priced) as priced_cost,
  max(case when spent.priced is not null then spent.valid_from end) as price_date,
  count(*) - count(spent.recorded) - count(spent.priced) as n_unknown,
  case
    when count(*) = count(spent.recorded) + count(spent.priced)
      then sum(coalesce(spent.recorded, spent.priced))
  end as cost
from spent
join run_current r on r.run_id = spent.run_id
group by spent.run_id
