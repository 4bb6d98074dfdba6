-- Clusters of prompts that share a source document.
-- grain: one row per cluster
select cluster.id, cluster.label, clustering.name
from cluster
join clustering on clustering.id = cluster.clustering_id
where clustering.kind = 'source' and cluster.id in (:cluster_ids)
order by cluster.id
