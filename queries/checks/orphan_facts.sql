-- Facts that point to a row which is not there.
-- grain: one row per table and reference with orphans
-- columns:
--   table_name: table of the facts
--   reference: column that points to nothing
--   n: rows
with orphan as (
  select 'score' as table_name, 'run_id' as reference, count(*) as n
  from score held
  where not exists (select 1 from run target where target.id = held.run_id)
  union all
  select 'score' as table_name, 'prompt_id' as reference, count(*) as n
  from score held
  where not exists (select 1 from prompt target where target.id = held.prompt_id)
  union all
  select 'score' as table_name, 'variant_id' as reference, count(*) as n
  from score held
  where not exists (select 1 from prompt_variant target where target.id = held.variant_id)
  union all
  select 'score' as table_name, 'metric_id' as reference, count(*) as n
  from score held
  where not exists (select 1 from metric target where target.id = held.metric_id)
  union all
  select 'generation' as table_name, 'run_id' as reference, count(*) as n
  from generation held
  where not exists (select 1 from run target where target.id = held.run_id)
  union all
  select 'generation' as table_name, 'prompt_id' as reference, count(*) as n
  from generation held
  where not exists (select 1 from prompt target where target.id = held.prompt_id)
  union all
  select 'generation' as table_name, 'variant_id' as reference, count(*) as n
  from generation held
  where not exists (select 1 from prompt_variant target where target.id = held.variant_id)
  union all
  select 'transcript' as table_name, 'run_id' as reference, count(*) as n
  from transcript held
  where not exists (select 1 from run target where target.id = held.run_id)
  union all
  select 'transcript' as table_name, 'prompt_id' as reference, count(*) as n
  from transcript held
  where not exists (select 1 from prompt target where target.id = held.prompt_id)
  union all
  select 'transcript' as table_name, 'variant_id' as reference, count(*) as n
  from transcript held
  where not exists (select 1 from prompt_variant target where target.id = held.variant_id)
  union all
  select 'tool_call' as table_name, 'run_id' as reference, count(*) as n
  from tool_call held
  where not exists (select 1 from run target where target.id = held.run_id)
  union all
  select 'tool_call' as table_name, 'prompt_id' as reference, count(*) as n
  from tool_call held
  where not exists (select 1 from prompt target where target.id = held.prompt_id)
  union all
  select 'tool_call' as table_name, 'variant_id' as reference, count(*) as n
  from tool_call held
  where not exists (select 1 from prompt_variant target where target.id = held.variant_id)
  union all
  select 'scan_value' as table_name, 'source_id' as reference, count(*) as n
  from scan_value held
  where not exists (select 1 from source target where target.id = held.source_id)
  union all
  select 'scan_value' as table_name, 'metric_id' as reference, count(*) as n
  from scan_value held
  where not exists (select 1 from metric target where target.id = held.metric_id)
  union all
  select 'preference' as table_name, 'source_id' as reference, count(*) as n
  from preference held
  where not exists (select 1 from source target where target.id = held.source_id)
  union all
  select 'preference' as table_name, 'benchmark_id' as reference, count(*) as n
  from preference held
  where not exists (select 1 from benchmark target where target.id = held.benchmark_id)
  union all
  select 'preference' as table_name, 'prompt_id' as reference, count(*) as n
  from preference held
  where held.prompt_id is not null
    and not exists (select 1 from prompt target where target.id = held.prompt_id)
  union all
  select 'preference' as table_name, 'variant_id' as reference, count(*) as n
  from preference held
  where not exists (select 1 from prompt_variant target where target.id = held.variant_id)
  union all
  select 'preference' as table_name, 'checkpoint_a_id' as reference, count(*) as n
  from preference held
  where not exists (select 1 from checkpoint target where target.id = held.checkpoint_a_id)
  union all
  select 'preference' as table_name, 'checkpoint_b_id' as reference, count(*) as n
  from preference held
  where not exists (select 1 from checkpoint target where target.id = held.checkpoint_b_id)
  union all
  select 'preference' as table_name, 'run_a_id' as reference, count(*) as n
  from preference held
  where held.run_a_id is not null
    and not exists (select 1 from run target where target.id = held.run_a_id)
  union all
  select 'preference' as table_name, 'run_b_id' as reference, count(*) as n
  from preference held
  where held.run_b_id is not null
    and not exists (select 1 from run target where target.id = held.run_b_id)
  union all
  select 'preference' as table_name, 'scorer_id' as reference, count(*) as n
  from preference held
  where not exists (select 1 from scorer target where target.id = held.scorer_id)
  union all
  select 'label_draw' as table_name, 'source_id' as reference, count(*) as n
  from label_draw held
  where held.source_id is not null
    and not exists (select 1 from source target where target.id = held.source_id)
  union all
  select 'label_draw' as table_name, 'benchmark_id' as reference, count(*) as n
  from label_draw held
  where not exists (select 1 from benchmark target where target.id = held.benchmark_id)
  union all
  select 'label_draw' as table_name, 'metric_id' as reference, count(*) as n
  from label_draw held
  where held.metric_id is not null
    and not exists (select 1 from metric target where target.id = held.metric_id)
  union all
  select 'label_draw' as table_name, 'scorer_id' as reference, count(*) as n
  from label_draw held
  where held.scorer_id is not null
    and not exists (select 1 from scorer target where target.id = held.scorer_id)
  union all
  select 'label_draw' as table_name, 'run_id' as reference, count(*) as n
  from label_draw held
  where held.run_id is not null
    and not exists (select 1 from run target where target.id = held.run_id)
  union all
  select 'label_draw' as table_name, 'prompt_id' as reference, count(*) as n
  from label_draw held
  where held.prompt_id is not null
    and not exists (select 1 from prompt target where target.id = held.prompt_id)
  union all
  select 'label_draw' as table_name, 'variant_id' as reference, count(*) as n
  from label_draw held
  where not exists (select 1 from prompt_variant target where target.id = held.variant_id)
  union all
  select 'label_draw' as table_name, 'checkpoint_a_id' as reference, count(*) as n
  from label_draw held
  where held.checkpoint_a_id is not null
    and not exists (select 1 from checkpoint target where target.id = held.checkpoint_a_id)
  union all
  select 'label_draw' as table_name, 'checkpoint_b_id' as reference, count(*) as n
  from label_draw held
  where held.checkpoint_b_id is not null
    and not exists (select 1 from checkpoint target where target.id = held.checkpoint_b_id)
  union all
  select 'choice' as table_name, 'run_id' as reference, count(*) as n
  from choice held
  where not exists (select 1 from run target where target.id = held.run_id)
  union all
  select 'choice' as table_name, 'prompt_id' as reference, count(*) as n
  from choice held
  where not exists (select 1 from prompt target where target.id = held.prompt_id)
  union all
  select 'choice' as table_name, 'variant_id' as reference, count(*) as n
  from choice held
  where not exists (select 1 from prompt_variant target where target.id = held.variant_id)
  union all
  select 'prompt_score' as table_name, 'run_id' as reference, count(*) as n
  from prompt_score held
  where not exists (select 1 from run target where target.id = held.run_id)
  union all
  select 'prompt_score' as table_name, 'prompt_id' as reference, count(*) as n
  from prompt_score held
  where not exists (select 1 from prompt target where target.id = held.prompt_id)
  union all
  select 'prompt_score' as table_name, 'metric_id' as reference, count(*) as n
  from prompt_score held
  where not exists (select 1 from metric target where target.id = held.metric_id)
  union all
  select 'published_score' as table_name, 'run_id' as reference, count(*) as n
  from published_score held
  where held.run_id is not null
    and not exists (select 1 from run target where target.id = held.run_id)
  union all
  select 'published_score' as table_name, 'run_group_id' as reference, count(*) as n
  from published_score held
  where not exists (select 1 from run_group target where target.id = held.run_group_id)
  union all
  select 'published_score' as table_name, 'source_id' as reference, count(*) as n
  from published_score held
  where not exists (select 1 from source target where target.id = held.source_id)
  union all
  select 'published_score' as table_name, 'benchmark_id' as reference, count(*) as n
  from published_score held
  where not exists (select 1 from benchmark target where target.id = held.benchmark_id)
  union all
  select 'published_score' as table_name, 'metric_id' as reference, count(*) as n
  from published_score held
  where not exists (select 1 from metric target where target.id = held.metric_id)
  union all
  select 'run_metric' as table_name, 'run_id' as reference, count(*) as n
  from run_metric held
  where not exists (select 1 from run target where target.id = held.run_id)
  union all
  select 'run_metric' as table_name, 'metric_id' as reference, count(*) as n
  from run_metric held
  where not exists (select 1 from metric target where target.id = held.metric_id)
  union all
  select 'run_source' as table_name, 'run_id' as reference, count(*) as n
  from run_source held
  where not exists (select 1 from run target where target.id = held.run_id)
  union all
  select 'run_source' as table_name, 'source_id' as reference, count(*) as n
  from run_source held
  where not exists (select 1 from source target where target.id = held.source_id)
  union all
  select 'rejection' as table_name, 'source_id' as reference, count(*) as n
  from rejection held
  where not exists (select 1 from source target where target.id = held.source_id)
  union all
  select 'prompt_cluster' as table_name, 'clustering_id' as reference, count(*) as n
  from prompt_cluster held
  where not exists (select 1 from clustering target where target.id = held.clustering_id)
  union all
  select 'prompt_cluster' as table_name, 'cluster_id' as reference, count(*) as n
  from prompt_cluster held
  where not exists (select 1 from cluster target where target.id = held.cluster_id)
  union all
  select 'prompt_cluster' as table_name, 'prompt_id' as reference, count(*) as n
  from prompt_cluster held
  where not exists (select 1 from prompt target where target.id = held.prompt_id)
  union all
  select 'prompt_embedding' as table_name, 'prompt_id' as reference, count(*) as n
  from prompt_embedding held
  where not exists (select 1 from prompt target where target.id = held.prompt_id)
  union all
  select 'prompt_embedding' as table_name, 'embedder_id' as reference, count(*) as n
  from prompt_embedding held
  where not exists (select 1 from embedder target where target.id = held.embedder_id)
  union all
  select 'metric_value' as table_name, 'refresh_id' as reference, count(*) as n
  from metric_value held
  where not exists (select 1 from refresh target where target.id = held.refresh_id)
)
select table_name, reference, n
from orphan
where n > 0
order by table_name nulls last, reference nulls last
