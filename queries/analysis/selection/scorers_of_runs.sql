-- Who scored some runs (:runs).
-- grain: one row per run and scorer
select distinct run_metric.run_id, scorer.kind, scorer.name, scorer.judge_model
from run_metric
join metric on metric.id = run_metric.metric_id
join scorer on scorer.id = metric.scorer_id
where run_metric.run_id in (:runs)
