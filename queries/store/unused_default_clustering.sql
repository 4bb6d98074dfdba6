-- A benchmark whose error bars rest on a clustering without clusters has none.
-- grain: changes one row of benchmark
update benchmark
set default_clustering_id = null
where id = :benchmark
  and default_clustering_id is not null
  and not exists (
    select 1 from cluster where cluster.clustering_id = benchmark.default_clustering_id
  )
