-- Facts that point to a row which is not there.
-- grain: one row per table and reference with orphans
-- columns:
--   table_name: table of the facts
--   reference: column that points to nothing
--   n: rows
with target as (
  select 'benchmark' as name, id from benchmark
  union all
  select 'checkpoint' as name, id from checkpoint
  union all
  select 'cluster' as name, id from cluster
  union all
  select 'clustering' as name, id from clustering
  union all
  select 'embedder' as name, id from embedder
  union all
  select 'metric' as name, id from metric
  union all
  select 'prompt' as name, id from prompt
  union all
  select 'prompt_variant' as name, id from prompt_variant
  union all
  select 'refresh' as name, id from refresh
  union all
  select 'run' as name, id from run
  union all
  select 'run_group' as name, id from run_group
  union all
  select 'scorer' as name, id from scorer
  union all
  select 'source' as name, id from source
),
held (table_name, reference, name, id, n) as (
  select 'score', 'run_id', 'run', run_id, count(*) from score group by run_id
  union all
  select 'score', 'prompt_id', 'prompt', prompt_id, count(*) from score group by prompt_id
  union all
  select 'score', 'variant_id', 'prompt_variant', variant_id, count(*)
  from score group by variant_id
  union all
  select 'score', 'metric_id', 'metric', metric_id, count(*) from score group by metric_id
  union all
  select 'generation', 'run_id', 'run', run_id, count(*) from generation group by run_id
  union all
  select 'generation', 'prompt_id', 'prompt', prompt_id, count(*) from generation group by prompt_id
  union all
  select 'generation', 'variant_id', 'prompt_variant', variant_id, count(*)
  from generation group by variant_id
  union all
  select 'transcript', 'run_id', 'run', run_id, count(*) from transcript group by run_id
  union all
  select 'transcript', 'prompt_id', 'prompt', prompt_id, count(*) from transcript group by prompt_id
  union all
  select 'transcript', 'variant_id', 'prompt_variant', variant_id, count(*)
  from transcript group by variant_id
  union all
  select 'tool_call', 'run_id', 'run', run_id, count(*) from tool_call group by run_id
  union all
  select 'tool_call', 'prompt_id', 'prompt', prompt_id, count(*) from tool_call group by prompt_id
  union all
  select 'tool_call', 'variant_id', 'prompt_variant', variant_id, count(*)
  from tool_call group by variant_id
  union all
  select 'scan_value', 'source_id', 'source', source_id, count(*) from scan_value group by source_id
  union all
  select 'scan_value', 'metric_id', 'metric', metric_id, count(*) from scan_value group by metric_id
  union all
  select 'preference', 'source_id', 'source', source_id, count(*) from preference group by source_id
  union all
  select 'preference', 'benchmark_id', 'benchmark', benchmark_id, count(*)
  from preference group by benchmark_id
  union all
  select 'preference', 'prompt_id', 'prompt', prompt_id, count(*) from preference group by prompt_id
  union all
  select 'preference', 'variant_id', 'prompt_variant', variant_id, count(*)
  from preference group by variant_id
  union all
  select 'preference', 'checkpoint_a_id', 'checkpoint', checkpoint_a_id, count(*)
  from preference group by checkpoint_a_id
  union all
  select 'preference', 'checkpoint_b_id', 'checkpoint', checkpoint_b_id, count(*)
  from preference group by checkpoint_b_id
  union all
  select 'preference', 'run_a_id', 'run', run_a_id, count(*) from preference group by run_a_id
  union all
  select 'preference', 'run_b_id', 'run', run_b_id, count(*) from preference group by run_b_id
  union all
  select 'preference', 'scorer_id', 'scorer', scorer_id, count(*) from preference group by scorer_id
  union all
  select 'label_draw', 'source_id', 'source', source_id, count(*) from label_draw group by source_id
  union all
  select 'label_draw', 'benchmark_id', 'benchmark', benchmark_id, count(*)
  from label_draw group by benchmark_id
  union all
  select 'label_draw', 'metric_id', 'metric', metric_id, count(*) from label_draw group by metric_id
  union all
  select 'label_draw', 'scorer_id', 'scorer', scorer_id, count(*) from label_draw group by scorer_id
  union all
  select 'label_draw', 'run_id', 'run', run_id, count(*) from label_draw group by run_id
  union all
  select 'label_draw', 'prompt_id', 'prompt', prompt_id, count(*) from label_draw group by prompt_id
  union all
  select 'label_draw', 'variant_id', 'prompt_variant', variant_id, count(*)
  from label_draw group by variant_id
  union all
  select 'label_draw', 'checkpoint_a_id', 'checkpoint', checkpoint_a_id, count(*)
  from label_draw group by checkpoint_a_id
  union all
  select 'label_draw', 'checkpoint_b_id', 'checkpoint', checkpoint_b_id, count(*)
  from label_draw group by checkpoint_b_id
  union all
  select 'choice', 'run_id', 'run', run_id, count(*) from choice group by run_id
  union all
  select 'choice', 'prompt_id', 'prompt', prompt_id, count(*) from choice group by prompt_id
  union all
  select 'choice', 'variant_id', 'prompt_variant', variant_id, count(*)
  from choice group by variant_id
  union all
  select 'prompt_score', 'run_id', 'run', run_id, count(*) from prompt_score group by run_id
  union all
  select 'prompt_score', 'prompt_id', 'prompt', prompt_id, count(*)
  from prompt_score group by prompt_id
  union all
  select 'prompt_score', 'metric_id', 'metric', metric_id, count(*)
  from prompt_score group by metric_id
  union all
  select 'statement', 'source_id', 'source', source_id, count(*) from statement
  where source_id is not null group by source_id
  union all
  select 'draw_score', 'run_id', 'run', run_id, count(*) from draw_score group by run_id
  union all
  select 'draw_score', 'metric_id', 'metric', metric_id, count(*) from draw_score group by metric_id
  union all
  select 'draw_score', 'variant_id', 'prompt_variant', variant_id, count(*)
  from draw_score group by variant_id
  union all
  select 'published_score', 'run_id', 'run', run_id, count(*) from published_score group by run_id
  union all
  select 'published_score', 'run_group_id', 'run_group', run_group_id, count(*)
  from published_score group by run_group_id
  union all
  select 'published_score', 'source_id', 'source', source_id, count(*)
  from published_score group by source_id
  union all
  select 'published_score', 'benchmark_id', 'benchmark', benchmark_id, count(*)
  from published_score group by benchmark_id
  union all
  select 'published_score', 'metric_id', 'metric', metric_id, count(*)
  from published_score group by metric_id
  union all
  select 'run_metric', 'run_id', 'run', run_id, count(*) from run_metric group by run_id
  union all
  select 'run_metric', 'metric_id', 'metric', metric_id, count(*) from run_metric group by metric_id
  union all
  select 'run_source', 'run_id', 'run', run_id, count(*) from run_source group by run_id
  union all
  select 'run_source', 'source_id', 'source', source_id, count(*) from run_source group by source_id
  union all
  select 'run_source', 'superseded_by', 'run', superseded_by, count(*) from run_source
  group by superseded_by
  union all
  select 'rejection', 'source_id', 'source', source_id, count(*) from rejection group by source_id
  union all
  select 'prompt_cluster', 'clustering_id', 'clustering', clustering_id, count(*)
  from prompt_cluster group by clustering_id
  union all
  select 'prompt_cluster', 'cluster_id', 'cluster', cluster_id, count(*)
  from prompt_cluster group by cluster_id
  union all
  select 'prompt_cluster', 'prompt_id', 'prompt', prompt_id, count(*)
  from prompt_cluster group by prompt_id
  union all
  select 'prompt_embedding', 'prompt_id', 'prompt', prompt_id, count(*)
  from prompt_embedding group by prompt_id
  union all
  select 'prompt_embedding', 'embedder_id', 'embedder', embedder_id, count(*)
  from prompt_embedding group by embedder_id
  union all
  select 'metric_value', 'refresh_id', 'refresh', refresh_id, count(*)
  from metric_value group by refresh_id
)
select table_name, reference, cast(sum(n) as bigint) as n
from held
where
  id is not null
  and not exists (select 1 from target where target.name = held.name and target.id = held.id)
group by table_name, reference
order by table_name nulls last, reference nulls last
