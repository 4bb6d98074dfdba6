-- Scores of prompts that are right or wrong, of some runs by some metrics.
-- grain: one row per run and prompt
select run_id, prompt_id, value
from prompt_score
where run_id in (:run_ids) and metric_id in (:metric_ids) and perturbation = ''
    and (value = 0 or value = 1)
order by run_id, prompt_id
