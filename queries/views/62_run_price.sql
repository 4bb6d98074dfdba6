-- The price of a run's tokens on its day (`warehouse list prices`), of its model as the dump has
-- it, else as the store shows it. A price holds from its date until it ends or the next one of its
-- model begins; of a run without a date, the newest.
-- grain: one row per current run whose model has a price of its day
-- columns:
--   run_id: id of the run
--   model: name that the price is of
--   valid_from: from when on it holds
--   input_price: of input that was not cached [US dollars for a million tokens]
--   cached_price: of cached input; that of input where none is stored [US dollars for a million
--     tokens]
--   cache_write_price: of input that was written into a cache; that of input where none is stored
--     [US dollars for a million tokens]
--   output_price: of output that is no reasoning [US dollars for a million tokens]
--   reasoning_price: of reasoning; that of output where none is stored [US dollars for a million
--     tokens]
with ranked as (
  select
    r.run_id,
    r.started_at,
    price.*,
    row_number() over (
      partition by r.run_id
      order by
        case when price.model = r.model_recorded then 0 else 1 end nulls last,
        price.valid_from desc nulls last
    ) as rank
  from run_current r
  join price on price.model = r.model_recorded or price.model = r.model
  where r.started_at is null or price.valid_from <= r.started_at
)
select
  run_id,
  model,
  valid_from,
  input_price,
  coalesce(cached_price, input_price) as cached_price,
  coalesce(cache_write_price, input_price) as cache_write_price,
  output_price,
  coalesce(reasoning_price, output_price) as reasoning_price
from ranked
where rank = 1 and (started_at is null or valid_until is null or started_at < valid_until)
