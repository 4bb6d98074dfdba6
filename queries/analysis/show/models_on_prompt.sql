-- How runs on a benchmark did on a prompt of it in headline form.
-- grain: one row per run and metric
-- columns:
--   value: mean over draws; null if no sample was scored
--   is_rate: value is the share of draws that are right (as in prompt_p_correct)
select fact.run_id, metric.name as metric, metric.filter as metric_filter, fact.value,
    fact.n_draws, fact.n_unscored,
    fact.value between 0 and 1 and fact.n_draws > 0
    and (fact.is_binary or coalesce(benchmark_metric.kind = 'binary', false))
    and abs(fact.value * fact.n_draws - round(fact.value * fact.n_draws)) < 0.05 as is_rate
from prompt_score fact
join run on run.id = fact.run_id
join metric on metric.id = fact.metric_id
left join benchmark_metric on benchmark_metric.benchmark_id = run.benchmark_id
    and benchmark_metric.metric_id = fact.metric_id
where run.benchmark_id = :benchmark and fact.prompt_id = :prompt and fact.perturbation = ''
order by metric.name nulls last, metric.filter nulls last, fact.run_id nulls last
