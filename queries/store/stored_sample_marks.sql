-- What the samples of runs took together whose settings are not worked out yet: two executions of
-- one condition differ in it.
-- grain: one row per run that says anything of it
select generation.run_id, sum(generation.latency) as latency, sum(generation.cost) as cost
from generation
join run on run.id = generation.run_id
where run.settings is null
group by generation.run_id
having sum(generation.latency) <> 0 or sum(generation.cost) <> 0
order by generation.run_id
