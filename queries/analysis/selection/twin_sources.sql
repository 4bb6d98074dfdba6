-- Sources of equal bytes that were read more than once, under other settings, by benchmark.
-- grain: one row per source and benchmark
with twin as (
    select sha256 from source group by sha256 having count(*) > 1
)
select run.benchmark_id, source.id as twin_id, source.sha256
from source
join run_source on run_source.source_id = source.id
join run on run.id = run_source.run_id
join twin on twin.sha256 = source.sha256
where run.benchmark_id in (:benchmark_ids)
group by run.benchmark_id, source.id, source.sha256
order by source.sha256, source.id, run.benchmark_id
