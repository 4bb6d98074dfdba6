-- The scores that stored scans gave to some runs.
-- grain: one row per run
select score.run_id, count(*) as n_values, count(distinct metric.scorer_id) as n_scanners
from score
join metric on metric.id = score.metric_id
where score.origin = 'scanned' and score.run_id in (:runs)
group by score.run_id
order by score.run_id
