-- Clusters of prompts by the names of clustering and cluster.
-- grain: one row per clustering and prompt
select prompt_cluster.prompt_id, clustering.name, cluster.label
from clustering
join cluster on cluster.clustering_id = clustering.id
join prompt_cluster on prompt_cluster.cluster_id = cluster.id
where clustering.benchmark_id in (:benchmark_ids)
order by clustering.name, prompt_cluster.prompt_id
