-- What the samples of each run took together, which two executions of one condition differ in: none
-- where no sample says so, or all say zero, as tools do that do not measure it.
-- grain: one row per run that says anything of it
select run, fsum(latency) as latency, fsum(cost) as cost
from stage_generation
group by run
having fsum(latency) <> 0 or fsum(cost) <> 0
order by run
