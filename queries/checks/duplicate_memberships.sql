-- Prompts that stand more than once in a clustering: standard errors would count them twice.
-- grain: one row per clustering with duplicates
-- columns:
--   clustering_id: id of the clustering
--   n: memberships beyond the first of each prompt
with repeated as (
  select clustering_id, count(*) - 1 as surplus
  from prompt_cluster
  group by clustering_id, prompt_id
  having count(*) > 1
)
select clustering_id, cast(sum(surplus) as bigint) as n
from repeated
group by clustering_id
order by clustering_id nulls last
