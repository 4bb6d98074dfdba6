-- Which sources the current runs of a benchmark came from.
-- grain: one row per benchmark and source
select r.benchmark, held.source_id
from run_current r
join run_source held on held.run_id = r.run_id
group by r.benchmark, held.source_id
order by r.benchmark nulls last, held.source_id nulls last
