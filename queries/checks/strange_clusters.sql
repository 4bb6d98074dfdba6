-- Memberships in clusters of another clustering or on prompts of another benchmark, and default
-- clusterings of another benchmark.
-- grain: one row per clustering and fault
-- columns:
--   clustering_id: id of the clustering
--   fault: what belongs to something else
--   n: rows
with strange as (
  select prompt_cluster.clustering_id, 'cluster' as fault
  from prompt_cluster
  join cluster on cluster.id = prompt_cluster.cluster_id
  where cluster.clustering_id <> prompt_cluster.clustering_id
  union all
  select prompt_cluster.clustering_id, 'prompt' as fault
  from prompt_cluster
  join clustering on clustering.id = prompt_cluster.clustering_id
  join prompt on prompt.id = prompt_cluster.prompt_id
  where prompt.benchmark_id <> clustering.benchmark_id
  union all
  select clustering.id as clustering_id, 'default of a benchmark' as fault
  from benchmark
  join clustering on clustering.id = benchmark.default_clustering_id
  where clustering.benchmark_id <> benchmark.id
)
select clustering_id, fault, count(*) as n
from strange
group by clustering_id, fault
order by clustering_id nulls last, fault nulls last
