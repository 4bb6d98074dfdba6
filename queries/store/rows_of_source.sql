-- Rows that a source names: of its runs, of its votes, and what it says of them and of suites.
-- grain: one row per table and id
with of_run as (
    select run.run_group_id, run.checkpoint_id, run.benchmark_id
    from run_source
    join run on run.id = run_source.run_id
    where run_source.source_id = :source
),
of_checkpoint as (
    select checkpoint_id from of_run
    union
    select checkpoint_a_id from preference where source_id = :source
    union
    select checkpoint_b_id from preference where source_id = :source
)
select 'run_group' as table_name, run_group_id as id from of_run
union
select 'checkpoint', checkpoint_id from of_checkpoint
union
select 'training_seed', checkpoint.training_seed_id
from of_checkpoint
join checkpoint on checkpoint.id = of_checkpoint.checkpoint_id
union
select 'model', training_seed.model_id
from of_checkpoint
join checkpoint on checkpoint.id = of_checkpoint.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
union
select 'benchmark', benchmark_id from of_run
union
select 'benchmark', benchmark_id from preference where source_id = :source
union
select 'benchmark', benchmark_id from published_score where source_id = :source
union
select 'benchmark', subject_id from statement where source_id = :source and about = 'suites'
order by 1, 2
