-- Benchmarks that sources of equal bytes were read as, where the runs of one of them are new.
-- Of a source that is several benchmarks, a copy is the same ones: none stands for another.
-- grain: one row per benchmark and other benchmark
with read_as as (
    select distinct source.id, source.sha256, run.benchmark_id
    from source
    join run_source on run_source.source_id = source.id
    join run on run.id = run_source.run_id
)
select distinct mine.name as benchmark, other.name as other
from run new_run
join run_source on run_source.run_id = new_run.id
join read_as new_file
    on new_file.id = run_source.source_id
    and new_file.benchmark_id = new_run.benchmark_id
join read_as old_file
    on old_file.sha256 = new_file.sha256
    and old_file.benchmark_id <> new_file.benchmark_id
join benchmark mine on mine.id = new_file.benchmark_id
join benchmark other on other.id = old_file.benchmark_id
where new_run.id >= :first_run
  and old_file.id <> new_file.id
  and not exists (
      select 1 from read_as also
      where (also.id = old_file.id and also.benchmark_id = new_file.benchmark_id)
         or (also.id = new_file.id and also.benchmark_id = old_file.benchmark_id)
  )
order by mine.name, other.name
