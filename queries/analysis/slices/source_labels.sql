-- Prompts by the fields that they were clustered by, of fields with so many values.
-- grain: one row per clustering and prompt
select clustering.benchmark_id, clustering.name, cluster.label, prompt_cluster.prompt_id
from clustering
join cluster on cluster.clustering_id = clustering.id
join prompt_cluster on prompt_cluster.cluster_id = cluster.id
join (
    select counted.clustering_id
    from cluster counted
    group by counted.clustering_id
    having count(*) >= :fewest and count(*) <= :most
) few on few.clustering_id = clustering.id
where clustering.kind = 'source' and clustering.benchmark_id in (:benchmark_ids)
order by clustering.name, cluster.label, prompt_cluster.prompt_id
