-- Benchmarks that sources of equal bytes were read as, where the runs of one of them are new.
-- grain: one row per benchmark and other benchmark
select distinct mine.name as benchmark, other.name as other
from run_source new_source
join run new_run on new_run.id = new_source.run_id
join source new_file on new_file.id = new_source.source_id
join source old_file on old_file.sha256 = new_file.sha256 and old_file.id <> new_file.id
join run_source old_source on old_source.source_id = old_file.id
join run old_run on old_run.id = old_source.run_id and old_run.benchmark_id <> new_run.benchmark_id
join benchmark mine on mine.id = new_run.benchmark_id
join benchmark other on other.id = old_run.benchmark_id
where new_run.id >= :first_run
order by mine.name, other.name
