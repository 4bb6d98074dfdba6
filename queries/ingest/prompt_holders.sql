-- The sources that hold some prompts of a benchmark: that have runs with facts of them, or votes.
-- grain: one row per source and prompt
select run_source.source_id, held.prompt_id
from run_source
join run on run.id = run_source.run_id
join prompt_score held on held.run_id = run.id
where run.benchmark_id = :benchmark
    and held.prompt_id in (select unnest(cast(:prompts as bigint[])))
union
select run_source.source_id, held.prompt_id
from run_source
join run on run.id = run_source.run_id
join generation held on held.run_id = run.id
where run.benchmark_id = :benchmark
    and held.prompt_id in (select unnest(cast(:prompts as bigint[])))
union
select run_source.source_id, held.prompt_id
from run_source
join run on run.id = run_source.run_id
join choice held on held.run_id = run.id
where run.benchmark_id = :benchmark
    and held.prompt_id in (select unnest(cast(:prompts as bigint[])))
union
select preference.source_id, preference.prompt_id
from preference
where preference.benchmark_id = :benchmark
    and preference.prompt_id in (select unnest(cast(:prompts as bigint[])))
order by 1, 2
