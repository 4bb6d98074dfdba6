-- Takes prompts of a benchmark out of its clusters by fields.
-- grain: one row per clustering and prompt
delete from prompt_cluster
where prompt_id in (select unnest(cast(:prompts as bigint[])))
  and clustering_id in (
    select id from clustering where benchmark_id = :benchmark and kind = 'source'
  )
