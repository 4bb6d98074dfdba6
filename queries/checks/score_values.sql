-- Scores whose numbers cannot be averaged, or contradict their status.
-- grain: one row per run and fault
-- columns:
--   run_id: id of the run
--   fault: what is wrong with the rows
--   n: rows
with judged as (
  select
    run_id,
    case
      when not abs(value) <= 1.7976931348623157e308 then 'value is not finite'
      when value is null and status = 'scored' then 'scored without a value'
      when not (weight >= 0 and weight <= 1.7976931348623157e308)
        then 'weight is negative or not finite'
      when n_draws < 1 then 'n_draws is below 1'
      when draw < -1 then 'draw is below -1'
    end as fault
  from score
)
select run_id, fault, count(*) as n
from judged
where fault is not null
group by run_id, fault
order by run_id nulls last, fault nulls last
