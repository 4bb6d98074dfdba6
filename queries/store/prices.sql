-- Prices, with how many runs of the model have tokens and no cost of their own.
-- grain: one row per model and date
select price.model, price.valid_from as date, price.input_price as input,
    price.output_price as output, price.cached_price as cached,
    price.cache_write_price as cache_write,
    price.reasoning_price as reasoning, price.valid_until as until, coalesce(used.n, 0) as n_runs
from price
left join (
    select run_current.model_recorded as model, run_cost.price_date, count(*) as n
    from run_cost
    join run_current on run_current.run_id = run_cost.run_id
    where run_cost.n_priced > 0
    group by run_current.model_recorded, run_cost.price_date
) as used on used.model = price.model and used.price_date = price.valid_from
order by price.model nulls last, price.valid_from nulls last
