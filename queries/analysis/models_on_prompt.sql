-- How current runs did on a prompt in headline form; of a binary metric the value is P(correct).
-- grain: one row per run and metric
-- columns:
--   value: mean over draws; null if no sample was scored
--   low: lower end of the Wilson interval over the draws; null where answers are not right or wrong
--   high: upper end of it
select r.run_id, r.model, metric.name as metric, metric.filter as metric_filter, fact.value,
    rate.wilson_low as low, rate.wilson_high as high, fact.n_draws, fact.n_unscored
from prompt_score fact
join run_current r on r.run_id = fact.run_id
join metric on metric.id = fact.metric_id
left join prompt_p_correct rate on rate.run_id = fact.run_id and rate.prompt_id = :prompt
    and rate.metric_id = fact.metric_id
where fact.prompt_id = :prompt and fact.perturbation = ''
order by metric.name nulls last, metric.filter nulls last, r.model nulls last, r.run_id nulls last
