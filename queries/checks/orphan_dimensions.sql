-- Rows of dimensions and runs that point to a row which is not there.
-- grain: one row per table and reference with orphans
-- columns:
--   table_name: table of the rows
--   reference: column that points to nothing
--   n: rows
with orphan as (
  select 'training_seed' as table_name, 'model_id' as reference, count(*) as n
  from training_seed held
  where not exists (select 1 from model target where target.id = held.model_id)
  union all
  select 'checkpoint' as table_name, 'training_seed_id' as reference, count(*) as n
  from checkpoint held
  where not exists (select 1 from training_seed target where target.id = held.training_seed_id)
  union all
  select 'model' as table_name, 'canonical_id' as reference, count(*) as n
  from model held
  where held.canonical_id is not null
    and not exists (select 1 from model target where target.id = held.canonical_id)
  union all
  select 'benchmark' as table_name, 'parent_id' as reference, count(*) as n
  from benchmark held
  where held.parent_id is not null
    and not exists (select 1 from benchmark target where target.id = held.parent_id)
  union all
  select 'benchmark' as table_name, 'canonical_id' as reference, count(*) as n
  from benchmark held
  where held.canonical_id is not null
    and not exists (select 1 from benchmark target where target.id = held.canonical_id)
  union all
  select 'benchmark' as table_name, 'default_clustering_id' as reference, count(*) as n
  from benchmark held
  where held.default_clustering_id is not null
    and not exists (select 1 from clustering target where target.id = held.default_clustering_id)
  union all
  select 'prompt' as table_name, 'benchmark_id' as reference, count(*) as n
  from prompt held
  where not exists (select 1 from benchmark target where target.id = held.benchmark_id)
  union all
  select 'prompt_link' as table_name, 'prompt_id' as reference, count(*) as n
  from prompt_link held
  where not exists (select 1 from prompt target where target.id = held.prompt_id)
  union all
  select 'prompt_link' as table_name, 'canonical_prompt_id' as reference, count(*) as n
  from prompt_link held
  where not exists (select 1 from prompt target where target.id = held.canonical_prompt_id)
  union all
  select 'clustering' as table_name, 'benchmark_id' as reference, count(*) as n
  from clustering held
  where not exists (select 1 from benchmark target where target.id = held.benchmark_id)
  union all
  select 'cluster' as table_name, 'clustering_id' as reference, count(*) as n
  from cluster held
  where not exists (select 1 from clustering target where target.id = held.clustering_id)
  union all
  select 'metric' as table_name, 'scorer_id' as reference, count(*) as n
  from metric held
  where not exists (select 1 from scorer target where target.id = held.scorer_id)
  union all
  select 'benchmark_metric' as table_name, 'benchmark_id' as reference, count(*) as n
  from benchmark_metric held
  where not exists (select 1 from benchmark target where target.id = held.benchmark_id)
  union all
  select 'benchmark_metric' as table_name, 'metric_id' as reference, count(*) as n
  from benchmark_metric held
  where not exists (select 1 from metric target where target.id = held.metric_id)
  union all
  select 'run' as table_name, 'run_group_id' as reference, count(*) as n
  from run held
  where not exists (select 1 from run_group target where target.id = held.run_group_id)
  union all
  select 'run' as table_name, 'checkpoint_id' as reference, count(*) as n
  from run held
  where not exists (select 1 from checkpoint target where target.id = held.checkpoint_id)
  union all
  select 'run' as table_name, 'agent_id' as reference, count(*) as n
  from run held
  where not exists (select 1 from agent target where target.id = held.agent_id)
  union all
  select 'run' as table_name, 'benchmark_id' as reference, count(*) as n
  from run held
  where not exists (select 1 from benchmark target where target.id = held.benchmark_id)
  union all
  select 'run' as table_name, 'superseded_by' as reference, count(*) as n
  from run held
  where held.superseded_by is not null
    and not exists (select 1 from run target where target.id = held.superseded_by)
)
select table_name, reference, n
from orphan
where n > 0
order by table_name nulls last, reference nulls last
