-- Dimension rows and runs that share an id or a natural key with another row.
-- grain: one row per table and kind of key with duplicates
-- columns:
--   table_name: table of the rows
--   key_name: id, or the natural key
--   n: rows beyond the first of each key
with repeated (table_name, key_name, surplus) as (
  select 'model', 'natural key', count(*) - 1 from model group by name having count(*) > 1
  union all
  select 'model', 'id', count(*) - 1 from model group by id having count(*) > 1
  union all
  select 'training_seed', 'natural key', count(*) - 1 from training_seed
  group by model_id, label, recipe having count(*) > 1
  union all
  select 'training_seed', 'id', count(*) - 1 from training_seed group by id having count(*) > 1
  union all
  select 'checkpoint', 'natural key', count(*) - 1 from checkpoint group by training_seed_id, key
  having count(*) > 1
  union all
  select 'checkpoint', 'id', count(*) - 1 from checkpoint group by id having count(*) > 1
  union all
  select 'agent', 'natural key', count(*) - 1 from agent group by name, version, parameters_key
  having count(*) > 1
  union all
  select 'agent', 'id', count(*) - 1 from agent group by id having count(*) > 1
  union all
  select 'benchmark', 'natural key', count(*) - 1 from benchmark group by name having count(*) > 1
  union all
  select 'benchmark', 'id', count(*) - 1 from benchmark group by id having count(*) > 1
  union all
  select 'prompt', 'natural key', count(*) - 1 from prompt
  group by benchmark_id, split, key, occurrence having count(*) > 1
  union all
  select 'prompt', 'id', count(*) - 1 from prompt group by id having count(*) > 1
  union all
  select 'prompt_link', 'natural key', count(*) - 1 from prompt_link group by prompt_id
  having count(*) > 1
  union all
  select 'prompt_link', 'id', count(*) - 1 from prompt_link group by id having count(*) > 1
  union all
  select 'prompt_variant', 'natural key', count(*) - 1 from prompt_variant
  group by perturbation, fewshot_draw, template having count(*) > 1
  union all
  select 'prompt_variant', 'id', count(*) - 1 from prompt_variant group by id having count(*) > 1
  union all
  select 'clustering', 'natural key', count(*) - 1 from clustering group by benchmark_id, name
  having count(*) > 1
  union all
  select 'clustering', 'id', count(*) - 1 from clustering group by id having count(*) > 1
  union all
  select 'cluster', 'natural key', count(*) - 1 from cluster group by clustering_id, label
  having count(*) > 1
  union all
  select 'cluster', 'id', count(*) - 1 from cluster group by id having count(*) > 1
  union all
  select 'scorer', 'natural key', count(*) - 1 from scorer
  group by name, kind, judge_model, parameters_key having count(*) > 1
  union all
  select 'scorer', 'id', count(*) - 1 from scorer group by id having count(*) > 1
  union all
  select 'metric', 'natural key', count(*) - 1 from metric
  group by name, filter, scorer_id, unit, link having count(*) > 1
  union all
  select 'metric', 'id', count(*) - 1 from metric group by id having count(*) > 1
  union all
  select 'benchmark_metric', 'natural key', count(*) - 1 from benchmark_metric
  group by benchmark_id, metric_id having count(*) > 1
  union all
  select 'benchmark_metric', 'id', count(*) - 1 from benchmark_metric group by id
  having count(*) > 1
  union all
  select 'run_group', 'natural key', count(*) - 1 from run_group group by key having count(*) > 1
  union all
  select 'run_group', 'id', count(*) - 1 from run_group group by id having count(*) > 1
  union all
  select 'run', 'natural key', count(*) - 1 from run
  group by recorded_key, content_digest, execution_key having count(*) > 1
  union all
  select 'run', 'id', count(*) - 1 from run group by id having count(*) > 1
  union all
  select 'ignored_setting', 'natural key', count(*) - 1 from ignored_setting
  group by name, benchmark having count(*) > 1
  union all
  select 'ignored_setting', 'id', count(*) - 1 from ignored_setting group by id having count(*) > 1
  union all
  select 'declaration', 'natural key', count(*) - 1 from declaration
  group by about, benchmark, subject having count(*) > 1
  union all
  select 'declaration', 'id', count(*) - 1 from declaration group by id having count(*) > 1
  union all
  select 'source', 'natural key', count(*) - 1 from source group by sha256, settings_key
  having count(*) > 1
  union all
  select 'source', 'id', count(*) - 1 from source group by id having count(*) > 1
  union all
  select 'embedder', 'natural key', count(*) - 1 from embedder group by name, revision
  having count(*) > 1
  union all
  select 'embedder', 'id', count(*) - 1 from embedder group by id having count(*) > 1
  union all
  select 'refresh', 'natural key', count(*) - 1 from refresh group by started_at having count(*) > 1
  union all
  select 'refresh', 'id', count(*) - 1 from refresh group by id having count(*) > 1
  union all
  select 'analysis', 'natural key', count(*) - 1 from analysis
  group by kind, subject, parameters_key having count(*) > 1
  union all
  select 'analysis', 'id', count(*) - 1 from analysis group by id having count(*) > 1
)
select table_name, key_name, cast(sum(surplus) as bigint) as n
from repeated
group by table_name, key_name
order by table_name nulls last, key_name nulls last
