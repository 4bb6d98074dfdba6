-- The probability that current runs answer a prompt correctly, by its binary metrics.
-- grain: one row per run and metric
select run_id, metric, metric_filter, p_correct, wilson_low, wilson_high
from prompt_p_correct
where prompt_id = :prompt
order by run_id nulls last, metric nulls last, metric_filter nulls last
