-- Clusterings that hold prompts, and how many prompts their clusters have.
-- grain: one row per clustering
select benchmark.id as benchmark_id, benchmark.name as benchmark, clustering.name,
    clustering.kind,
    case when benchmark.default_clustering_id = clustering.id then 1 else 0 end as is_default,
    cast(sum(sized.n_prompts) as bigint) as n_prompts, count(*) as n_clusters,
    cast(sum(case when sized.n_prompts = 1 then 1 else 0 end) as bigint) as n_single,
    max(sized.n_prompts) as largest
from (
    select clustering_id, cluster_id, count(*) as n_prompts
    from prompt_cluster
    group by clustering_id, cluster_id
) sized
join clustering on clustering.id = sized.clustering_id
join benchmark on benchmark.id = clustering.benchmark_id
group by benchmark.id, benchmark.name, clustering.id, clustering.name, clustering.kind,
    benchmark.default_clustering_id
order by benchmark.name nulls last, clustering.name nulls last
