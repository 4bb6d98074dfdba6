-- Removes metrics from benchmarks where no source says that they have them, and no run has figures
-- of them.
-- grain: one row per benchmark and metric
delete from benchmark_metric
where not exists (
    select 1 from statement
    where statement.about = 'benchmark_metric' and statement.subject_id = benchmark_metric.id
  )
  and not exists (
    select 1 from run_metric
    join run on run.id = run_metric.run_id
    where run.benchmark_id = benchmark_metric.benchmark_id
      and run_metric.metric_id = benchmark_metric.metric_id
  )
  and not exists (
    select 1 from published_score
    where published_score.benchmark_id = benchmark_metric.benchmark_id
      and published_score.metric_id = benchmark_metric.metric_id
  )
