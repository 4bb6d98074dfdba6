-- What the store holds of each benchmark.
-- grain: one row per benchmark with prompts or current runs, under its canonical name
-- columns:
--   benchmark: name of the benchmark
--   n_prompts: prompts
--   n_runs: current runs
--   n_models: models with a current run
--   n_conditions: conditions (repeats count once)
--   newest_run: start of the newest run [UTC]
--   default_clustering: clustering that gives the error bars; null if none
with named as (
  select
    benchmark.id,
    coalesce(canonical.name, benchmark.name) as benchmark_name,
    clustering.name as clustering_name
  from benchmark
  left join benchmark canonical on canonical.id = benchmark.canonical_id
  left join clustering on clustering.id = benchmark.default_clustering_id
),
prompts as (
  select
    named.benchmark_name,
    count(prompt.id) as n_prompts,
    min(named.clustering_name) as clustering_name
  from named
  left join prompt on prompt.benchmark_id = named.id
  group by named.benchmark_name
),
runs as (
  select
    benchmark as benchmark_name,
    count(*) as n_runs,
    count(distinct model_id) as n_models,
    count(distinct condition_key) as n_conditions,
    max(started_at) as newest_run
  from run_current
  group by benchmark
)
select
  prompts.benchmark_name as benchmark,
  prompts.n_prompts,
  coalesce(runs.n_runs, 0) as n_runs,
  coalesce(runs.n_models, 0) as n_models,
  coalesce(runs.n_conditions, 0) as n_conditions,
  runs.newest_run,
  prompts.clustering_name as default_clustering
from prompts
left join runs on runs.benchmark_name = prompts.benchmark_name
where prompts.n_prompts > 0 or runs.n_runs > 0
order by prompts.benchmark_name nulls last
