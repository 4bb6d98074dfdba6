-- Clusters by fields of a benchmark that hold no prompt any more.
-- grain: one row per cluster
delete from cluster
where clustering_id in (
    select id from clustering where benchmark_id = :benchmark and kind = 'source'
  )
  and not exists (select 1 from prompt_cluster where prompt_cluster.cluster_id = cluster.id)
