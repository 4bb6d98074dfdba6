-- Figures of current runs; settings of the runs are in training_runs (joined: slow).
-- grain: one row per run and metric
-- placeholder: metrics condition -- on columns of run_score
-- placeholder: here condition -- on s.run_id
select s.run_id, s.metric_id, s.metric, s.metric_filter, s.higher_is_better, s.estimate,
  s.standard_error, described.low, described.high, s.n_prompts
from run_score s
join run on run.id = s.run_id
left join benchmark_metric described
  on described.benchmark_id = run.benchmark_id and described.metric_id = s.metric_id
where abs(s.estimate) < cast('Infinity' as double precision) and {metrics} and {here}
order by s.run_id, s.metric_id
