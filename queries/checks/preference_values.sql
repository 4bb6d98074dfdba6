-- Votes whose models stand in the wrong order, and votes and draws of labels whose numbers mean
-- nothing.
-- grain: one row per table and fault
-- columns:
--   table_name: table of the rows
--   fault: what is wrong with the rows
--   n: rows
with judged as (
  select
    'preference' as table_name,
    case
      when checkpoint_a_id > checkpoint_b_id then 'model a comes after model b'
      when not (weight > 0 and weight <= 1.7976931348623157e308)
        then 'weight is not above 0, or not finite'
      when draw < 0 then 'draw is below 0'
    end as fault
  from preference
  union all
  select
    'label_draw' as table_name,
    case
      when not (probability > 0 and probability <= 1) then 'probability is not in (0, 1]'
      when wave < 0 then 'wave is below 0'
    end as fault
  from label_draw
)
select table_name, fault, count(*) as n
from judged
where fault is not null
group by table_name, fault
order by table_name nulls last, fault nulls last
