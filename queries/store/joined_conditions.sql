-- Conditions of some runs that have several current runs with samples.
-- grain: one row per condition, the last first
select new_run.condition_key, max(new_run.run_id) as last_id
from run_current new_run
join run_current other on other.condition_key = new_run.condition_key
where new_run.run_id in (:run_ids) and other.n_found > 0
group by new_run.condition_key
having count(distinct other.run_id) > 1
order by last_id desc nulls last, new_run.condition_key nulls last
limit :most
