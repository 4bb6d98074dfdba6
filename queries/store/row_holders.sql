-- The sources that name a row of a table (:table, :id), in the order in which they came.
-- grain: one row per source
with named as (
    select run_source.source_id, 'run_group' as table_name, run.run_group_id as id
    from run_source
    join run on run.id = run_source.run_id
    union
    select run_source.source_id, 'checkpoint', run.checkpoint_id
    from run_source
    join run on run.id = run_source.run_id
    union
    select source_id, 'checkpoint', checkpoint_a_id from preference
    union
    select source_id, 'checkpoint', checkpoint_b_id from preference
    union
    select source_id, 'run', run_id from run_source
    union
    select run_source.source_id, 'benchmark', run.benchmark_id
    from run_source
    join run on run.id = run_source.run_id
    union
    select source_id, 'benchmark', benchmark_id from preference
    union
    select source_id, 'benchmark', benchmark_id from published_score
    union
    select source_id, 'benchmark', subject_id from statement where about = 'suites'
),
above as (
    select source_id, table_name, id from named
    union
    select named.source_id, 'training_seed', checkpoint.training_seed_id
    from named
    join checkpoint on checkpoint.id = named.id
    where named.table_name = 'checkpoint'
    union
    select named.source_id, 'model', training_seed.model_id
    from named
    join checkpoint on checkpoint.id = named.id
    join training_seed on training_seed.id = checkpoint.training_seed_id
    where named.table_name = 'checkpoint'
)
select source.id
from above
join source on source.id = above.source_id
where above.table_name = :table and above.id = :id
order by source.loaded_at nulls last, source.id
