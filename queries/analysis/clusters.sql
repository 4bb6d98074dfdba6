-- Clusters with the clustering that they belong to.
-- grain: one row per cluster
select cluster.id, cluster.label, clustering.benchmark_id, clustering.name, clustering.kind
from cluster
join clustering on clustering.id = cluster.clustering_id
where clustering.benchmark_id in (:benchmark_ids)
order by cluster.id
