-- What the generations of runs cost, of runs of which each generation says it.
-- grain: one row per run with a cost
select run_id, sum(cost) as cost
from generation
where run_id in (:run_ids)
group by run_id
having count(cost) = count(*)
order by run_id
