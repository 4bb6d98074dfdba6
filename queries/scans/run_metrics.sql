-- Which metrics of scanners runs have, and of how many prompts.
-- grain: one row per run and metric
insert into run_metric (run_id, metric_id, n_scored)
select prompt_score.run_id, prompt_score.metric_id, count(prompt_score.value)
from prompt_score
join scanned_pair pair
    on pair.run_id = prompt_score.run_id and pair.metric_id = prompt_score.metric_id
group by prompt_score.run_id, prompt_score.metric_id
order by prompt_score.run_id, prompt_score.metric_id
