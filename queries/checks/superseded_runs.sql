-- Runs that are out of the views though one of their sources brought them under a key that no newer
-- run has, or are in them though every key has.
-- grain: one row per run
-- columns:
--   run_id: id of the run
--   n: its sources whose key has no newer run
select run.id as run_id, count(*) - count(run_source.superseded_by) as n
from run
join run_source on run_source.run_id = run.id
group by run.id, run.superseded_by
having (run.superseded_by is null) <> (count(*) > count(run_source.superseded_by))
order by run.id nulls last
