-- Tables whose next id is taken already: the next load would fail or mix up rows.
-- grain: one row per table
-- columns:
--   table_name: table of the rows
--   next_id: id that the counter hands out next; null if the table has no counter
--   largest_id: largest id in the table
--   n: ids that the counter would hand out although they are taken
with largest (table_name, largest_id) as (
  select 'model', max(id) from model
  union all
  select 'training_seed', max(id) from training_seed
  union all
  select 'checkpoint', max(id) from checkpoint
  union all
  select 'agent', max(id) from agent
  union all
  select 'benchmark', max(id) from benchmark
  union all
  select 'prompt', max(id) from prompt
  union all
  select 'prompt_link', max(id) from prompt_link
  union all
  select 'prompt_variant', max(id) from prompt_variant
  union all
  select 'clustering', max(id) from clustering
  union all
  select 'cluster', max(id) from cluster
  union all
  select 'scorer', max(id) from scorer
  union all
  select 'metric', max(id) from metric
  union all
  select 'benchmark_metric', max(id) from benchmark_metric
  union all
  select 'run_group', max(id) from run_group
  union all
  select 'run', max(id) from run
  union all
  select 'source', max(id) from source
  union all
  select 'embedder', max(id) from embedder
  union all
  select 'refresh', max(id) from refresh
  union all
  select 'analysis', max(id) from analysis
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
