-- Dimension rows and runs that share an id or a natural key with another row.
-- grain: one row per table and kind of key with duplicates
-- columns:
--   table_name: table of the rows
--   key_name: id, or the natural key
--   n: rows beyond the first of each key
with repeated as (
  select 'model' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from model
  group by name
  having count(*) > 1
  union all
  select 'model' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from model
  group by id
  having count(*) > 1
  union all
  select 'training_seed' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from training_seed
  group by model_id, label, recipe
  having count(*) > 1
  union all
  select 'training_seed' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from training_seed
  group by id
  having count(*) > 1
  union all
  select 'checkpoint' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from checkpoint
  group by training_seed_id, key
  having count(*) > 1
  union all
  select 'checkpoint' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from checkpoint
  group by id
  having count(*) > 1
  union all
  select 'agent' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from agent
  group by name, version, parameters_key
  having count(*) > 1
  union all
  select 'agent' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from agent
  group by id
  having count(*) > 1
  union all
  select 'benchmark' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from benchmark
  group by name
  having count(*) > 1
  union all
  select 'benchmark' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from benchmark
  group by id
  having count(*) > 1
  union all
  select 'prompt' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from prompt
  group by benchmark_id, split, key, occurrence
  having count(*) > 1
  union all
  select 'prompt' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from prompt
  group by id
  having count(*) > 1
  union all
  select 'prompt_link' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from prompt_link
  group by prompt_id
  having count(*) > 1
  union all
  select 'prompt_link' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from prompt_link
  group by id
  having count(*) > 1
  union all
  select 'prompt_variant' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from prompt_variant
  group by perturbation, fewshot_draw, template
  having count(*) > 1
  union all
  select 'prompt_variant' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from prompt_variant
  group by id
  having count(*) > 1
  union all
  select 'clustering' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from clustering
  group by benchmark_id, name
  having count(*) > 1
  union all
  select 'clustering' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from clustering
  group by id
  having count(*) > 1
  union all
  select 'cluster' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from cluster
  group by clustering_id, label
  having count(*) > 1
  union all
  select 'cluster' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from cluster
  group by id
  having count(*) > 1
  union all
  select 'scorer' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from scorer
  group by name, kind, judge_model, parameters_key
  having count(*) > 1
  union all
  select 'scorer' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from scorer
  group by id
  having count(*) > 1
  union all
  select 'metric' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from metric
  group by name, filter, scorer_id, unit, link
  having count(*) > 1
  union all
  select 'metric' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from metric
  group by id
  having count(*) > 1
  union all
  select 'benchmark_metric' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from benchmark_metric
  group by benchmark_id, metric_id
  having count(*) > 1
  union all
  select 'benchmark_metric' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from benchmark_metric
  group by id
  having count(*) > 1
  union all
  select 'run_group' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from run_group
  group by key
  having count(*) > 1
  union all
  select 'run_group' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from run_group
  group by id
  having count(*) > 1
  union all
  select 'run' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from run
  group by condition_key, content_digest
  having count(*) > 1
  union all
  select 'run' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from run
  group by id
  having count(*) > 1
  union all
  select 'source' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from source
  group by sha256, settings_key
  having count(*) > 1
  union all
  select 'source' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from source
  group by id
  having count(*) > 1
  union all
  select 'embedder' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from embedder
  group by name, revision
  having count(*) > 1
  union all
  select 'embedder' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from embedder
  group by id
  having count(*) > 1
  union all
  select 'refresh' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from refresh
  group by started_at
  having count(*) > 1
  union all
  select 'refresh' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from refresh
  group by id
  having count(*) > 1
  union all
  select 'analysis' as table_name, 'natural key' as key_name, count(*) - 1 as surplus
  from analysis
  group by kind, subject, parameters_key
  having count(*) > 1
  union all
  select 'analysis' as table_name, 'id' as key_name, count(*) - 1 as surplus
  from analysis
  group by id
  having count(*) > 1
)
select table_name, key_name, cast(sum(surplus) as bigint) as n
from repeated
group by table_name, key_name
order by table_name nulls last, key_name nulls last
