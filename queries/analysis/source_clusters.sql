-- Clusters of prompts that share a source document.
-- grain: one row per cluster
-- placeholder: these condition -- on cluster.id
select cluster.id, cluster.label, clustering.name
from cluster
join clustering on clustering.id = cluster.clustering_id
where clustering.kind = 'source' and {these}
order by cluster.id
