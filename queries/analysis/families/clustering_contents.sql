-- Clusterings, with a count and a sum that change when their members do.
-- grain: one row per clustering that has members
select clustering.id, clustering.name, clustering.kind, clustering.created_at,
    count(*) as n,
    cast(sum(prompt_cluster.cluster_id * prompt_cluster.prompt_id) as varchar) as total
from clustering
join prompt_cluster on prompt_cluster.clustering_id = clustering.id
group by clustering.id, clustering.name, clustering.kind, clustering.created_at
