-- Which sources the current runs of a benchmark came from, and its votes.
-- grain: one row per benchmark and source
select r.benchmark, held.source_id
from run_current r
join run_source held on held.run_id = r.run_id
union
select benchmark, source_id
from preference_current
order by benchmark nulls last, source_id nulls last
