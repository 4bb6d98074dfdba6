-- Models of which tokens are stored, and neither what they cost nor a price of the day.
-- grain: one row per model
select run_current.model_recorded as model
from run_cost
join run_current on run_current.run_id = run_cost.run_id
where run_cost.n_unknown > 0 and run_cost.run_id in (
    select run_id from generation where cost is null and output_tokens is not null
)
group by run_current.model_recorded
order by run_current.model_recorded nulls last
