-- Clusters with the clustering that they belong to.
-- grain: one row per cluster
-- placeholder: here condition -- on clustering.benchmark_id
select cluster.id, cluster.label, clustering.benchmark_id, clustering.name, clustering.kind
from cluster
join clustering on clustering.id = cluster.clustering_id
where {here}
order by cluster.id
