-- What every run scores on each slice of a benchmark: prompts with one value of a field, by which
-- they were clustered (warehouse fix cluster BENCHMARK FIELD). Means without intervals; those and
-- verdicts that allow for reading all slices: warehouse leaderboard --by, warehouse compare --by.
-- grain: one row per slice, current run and headline metric
-- parameter: benchmark text -- name of the benchmark
-- parameter: clustering text -- name of the clustering, that of the field
-- columns:
--   slice: value of the field
--   model: name of the model
--   run_id: id of the run
--   split: part of the benchmark
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   estimate: mean over the prompts of the slice, in the metric's per-prompt unit
--   n_prompts: prompts of the slice with a score
with chosen as (
  select
    prompt_cluster.prompt_id,
    cluster.label
  from clustering
  join cluster on cluster.clustering_id = clustering.id
  join prompt_cluster on prompt_cluster.cluster_id = cluster.id
  where clustering.name = :clustering
)
select
  chosen.label as slice,
  scores.model,
  scores.run_id,
  scores.split,
  scores.metric,
  scores.metric_filter,
  sum(scores.value * scores.weight) / sum(scores.weight) as estimate,
  count(*) as n_prompts
from performance_matrix scores
join chosen on chosen.prompt_id = scores.prompt_id
join run on run.id = scores.run_id
join headline_metric
  on headline_metric.benchmark_id = run.benchmark_id
  and headline_metric.metric_id = scores.metric_id
join metric on metric.id = scores.metric_id
where scores.benchmark = :benchmark
  and headline_metric.is_default
  and metric.link = 'identity'
group by
  chosen.label,
  scores.model,
  scores.run_id,
  scores.split,
  scores.metric,
  scores.metric_filter
having sum(scores.weight) > 0
order by chosen.label nulls last, estimate desc nulls last, scores.run_id nulls last
