-- Rows of dimensions and runs that point to a row which is not there.
-- grain: one row per table and reference with orphans
-- columns:
--   table_name: table of the rows
--   reference: column that points to nothing
--   n: rows
with orphan (table_name, reference, n) as (
  select 'training_seed', 'model_id', count(*) from training_seed held where not exists (select 1
  from model target where target.id = held.model_id)
  union all
  select 'checkpoint', 'training_seed_id', count(*) from checkpoint held where not exists (select 1
  from training_seed target where target.id = held.training_seed_id)
  union all
  select 'model', 'canonical_id', count(*) from model held
  where held.canonical_id is not null and not exists (select 1 from model target
  where target.id = held.canonical_id)
  union all
  select 'benchmark', 'parent_id', count(*) from benchmark held
  where held.parent_id is not null and not exists (select 1 from benchmark target
  where target.id = held.parent_id)
  union all
  select 'benchmark', 'canonical_id', count(*) from benchmark held
  where held.canonical_id is not null and not exists (select 1 from benchmark target
  where target.id = held.canonical_id)
  union all
  select 'benchmark', 'default_clustering_id', count(*) from benchmark held
  where held.default_clustering_id is not null and not exists (select 1 from clustering target
  where target.id = held.default_clustering_id)
  union all
  select 'prompt', 'benchmark_id', count(*) from prompt held where not exists (select 1
  from benchmark target where target.id = held.benchmark_id)
  union all
  select 'prompt_link', 'prompt_id', count(*) from prompt_link held where not exists (select 1
  from prompt target where target.id = held.prompt_id)
  union all
  select 'prompt_link', 'canonical_prompt_id', count(*) from prompt_link held
  where not exists (select 1 from prompt target where target.id = held.canonical_prompt_id)
  union all
  select 'clustering', 'benchmark_id', count(*) from clustering held where not exists (select 1
  from benchmark target where target.id = held.benchmark_id)
  union all
  select 'cluster', 'clustering_id', count(*) from cluster held where not exists (select 1
  from clustering target where target.id = held.clustering_id)
  union all
  select 'metric', 'scorer_id', count(*) from metric held where not exists (select 1
  from scorer target where target.id = held.scorer_id)
  union all
  select 'benchmark_metric', 'benchmark_id', count(*) from benchmark_metric held
  where not exists (select 1 from benchmark target where target.id = held.benchmark_id)
  union all
  select 'benchmark_metric', 'metric_id', count(*) from benchmark_metric held
  where not exists (select 1 from metric target where target.id = held.metric_id)
  union all
  select 'run', 'run_group_id', count(*) from run held where not exists (select 1
  from run_group target where target.id = held.run_group_id)
  union all
  select 'run', 'checkpoint_id', count(*) from run held where not exists (select 1
  from checkpoint target where target.id = held.checkpoint_id)
  union all
  select 'run', 'agent_id', count(*) from run held where not exists (select 1 from agent target
  where target.id = held.agent_id)
  union all
  select 'run', 'benchmark_id', count(*) from run held where not exists (select 1
  from benchmark target where target.id = held.benchmark_id)
  union all
  select 'run', 'superseded_by', count(*) from run held
  where held.superseded_by is not null and not exists (select 1 from run target
  where target.id = held.superseded_by)
)
select table_name, reference, n
from orphan
where n > 0
order by table_name nulls last, reference nulls last
