-- Runs that supersede each other in a ring: none of them is current.
-- grain: one row per run in a ring
-- columns:
--   run_id: id of the run
--   n: runs in its ring
with recursive walk as (
  select id as run_id, superseded_by as reached_id
  from run
  where superseded_by is not null
  union
  select walk.run_id, run.superseded_by as reached_id
  from walk
  join run on run.id = walk.reached_id
  where run.superseded_by is not null
),
in_ring as (
  select run_id
  from walk
  where reached_id = run_id
)
select walk.run_id, count(*) as n
from walk
join in_ring on in_ring.run_id = walk.run_id
group by walk.run_id
order by walk.run_id nulls last
