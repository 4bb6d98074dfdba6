-- Tables whose next id is taken already: the next load would fail or mix up rows.
-- grain: one row per table
-- columns:
--   table_name: table of the rows
--   next_id: id that the counter hands out next; null if the table has no counter
--   largest_id: largest id in the table
--   n: ids that the counter would hand out although they are taken
with largest as (
  select 'model' as table_name, max(id) as largest_id
  from model
  union all
  select 'training_seed' as table_name, max(id) as largest_id
  from training_seed
  union all
  select 'checkpoint' as table_name, max(id) as largest_id
  from checkpoint
  union all
  select 'agent' as table_name, max(id) as largest_id
  from agent
  union all
  select 'benchmark' as table_name, max(id) as largest_id
  from benchmark
  union all
  select 'prompt' as table_name, max(id) as largest_id
  from prompt
  union all
  select 'prompt_link' as table_name, max(id) as largest_id
  from prompt_link
  union all
  select 'prompt_variant' as table_name, max(id) as largest_id
  from prompt_variant
  union all
  select 'clustering' as table_name, max(id) as largest_id
  from clustering
  union all
  select 'cluster' as table_name, max(id) as largest_id
  from cluster
  union all
  select 'scorer' as table_name, max(id) as largest_id
  from scorer
  union all
  select 'metric' as table_name, max(id) as largest_id
  from metric
  union all
  select 'benchmark_metric' as table_name, max(id) as largest_id
  from benchmark_metric
  union all
  select 'run_group' as table_name, max(id) as largest_id
  from run_group
  union all
  select 'run' as table_name, max(id) as largest_id
  from run
  union all
  select 'source' as table_name, max(id) as largest_id
  from source
  union all
  select 'embedder' as table_name, max(id) as largest_id
  from embedder
  union all
  select 'refresh' as table_name, max(id) as largest_id
  from refresh
  union all
  select 'analysis' as table_name, max(id) as largest_id
  from analysis
)
select
  largest.table_name,
  id_counter.next_id,
  largest.largest_id,
  largest.largest_id - coalesce(id_counter.next_id, 1) + 1 as n
from largest
left join id_counter on id_counter.table_name = largest.table_name
where largest.largest_id >= coalesce(id_counter.next_id, 1)
order by largest.table_name nulls last
