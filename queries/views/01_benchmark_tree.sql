-- The tree of benchmarks: what lies below what, and by which way.
-- grain: one row per benchmark and benchmark at or below it (each is below itself at distance 0)
-- columns:
--   ancestor_id: id of the upper benchmark
--   ancestor: its name
--   benchmark_id: id of the lower benchmark
--   benchmark: its name
--   distance: levels between the two [0 = the same]
--   path: names from the upper to the lower, joined by " > "
--   ancestor_is_root: the upper benchmark has no parent; its rows hold the full paths
--   is_leaf: nothing lies below the lower benchmark; its prompts, if any, are its own
with recursive reach as (
  select
    root.id as ancestor_id,
    root.name as ancestor,
    root.parent_id,
    root.id as benchmark_id,
    '' || root.name as path,
    0 as distance
  from benchmark root
  union all
  select
    reach.ancestor_id,
    reach.ancestor,
    reach.parent_id,
    child.id as benchmark_id,
    reach.path || ' > ' || child.name as path,
    reach.distance + 1 as distance
  from reach
  join benchmark child on child.parent_id = reach.benchmark_id
  where reach.distance < 20
),
inner_node as (
  select distinct parent_id as id
  from benchmark
  where parent_id is not null
)
select
  reach.ancestor_id,
  reach.ancestor,
  reach.benchmark_id,
  lower_one.name as benchmark,
  reach.distance,
  reach.path,
  reach.parent_id is null as ancestor_is_root,
  inner_node.id is null as is_leaf
from reach
join benchmark lower_one on lower_one.id = reach.benchmark_id
left join inner_node on inner_node.id = reach.benchmark_id
