-- Sources of equal bytes that were read under several settings, and the benchmarks of their runs.
-- grain: one row per benchmark and source
select distinct run.benchmark_id, source.id as source_id, source.sha256
from source
join run_source on run_source.source_id = source.id
join run on run.id = run_source.run_id
where run.benchmark_id in (:benchmark_ids) and source.sha256 in (
    select sha256 from source group by sha256 having count(*) > 1)
order by sha256, source_id, benchmark_id
