-- What is stored of each clustering: one that is made again has new clusters, and one that grows
-- has more members.
-- grain: one row per clustering
select clustering.id as unit, clustering.created_at, coalesce(held.n, 0) as n, held.lowest,
    held.highest, coalesce(named.n, 0) as n_clusters
from clustering
left join (
    select clustering_id, count(*) as n, min(cluster_id) as lowest, max(cluster_id) as highest
    from prompt_cluster
    group by clustering_id
) held on held.clustering_id = clustering.id
left join (
    select clustering_id, count(*) as n
    from cluster
    group by clustering_id
) named on named.clustering_id = clustering.id
order by clustering.id
