-- Clusterings of a benchmark by fields that have no clusters any more.
-- grain: one row per clustering
delete from clustering
where benchmark_id = :benchmark
  and kind = 'source'
  and not exists (select 1 from cluster where cluster.clustering_id = clustering.id)
