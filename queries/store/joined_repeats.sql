-- New runs (from :first_run on) that joined an earlier one of their condition, from a source of
-- another path: repeats of it, or published figures beside samples.
-- grain: one row per new run
with current_run as (
    select id as run_id, condition_key, checkpoint_id, benchmark_id, n_found, marks
    from run
    where superseded_by is null and status <> 'invalidated'
),
held as (
    select
        condition_key, min(run_id) as first_id,
        max(case when n_found = 0 then run_id end) as figures_id,
        min(case when n_found > 0 then run_id end) as samples_id
    from current_run
    group by condition_key
)
select
    new_run.run_id, coalesce(named_model.name, model.name) as model,
    coalesce(named_benchmark.name, benchmark.name) as benchmark, old_run.run_id as earlier,
    (
        select min(source.path)
        from run_source join source on source.id = run_source.source_id
        where run_source.run_id = old_run.run_id
    ) as path,
    old_run.n_found > 0 and new_run.n_found > 0 and not exists (
        select 1 from run_source named
        where named.run_id = new_run.run_id and named.run_key is not null
    ) as has_nameless_samples,
    cast(new_run.marks as varchar) as own_marks, cast(old_run.marks as varchar) as earlier_marks,
    held.figures_id, held.samples_id
from current_run new_run
join held on held.condition_key = new_run.condition_key and held.first_id < new_run.run_id
join current_run old_run on old_run.run_id = held.first_id
join checkpoint on checkpoint.id = new_run.checkpoint_id
join training_seed on training_seed.id = checkpoint.training_seed_id
join model on model.id = training_seed.model_id
left join model named_model on named_model.id = model.canonical_id
join benchmark on benchmark.id = new_run.benchmark_id
left join benchmark named_benchmark on named_benchmark.id = benchmark.canonical_id
where new_run.run_id >= :first_run
    and not exists (
        select 1
        from run_source mine
        join source my_source on my_source.id = mine.source_id
        join source their_source on their_source.path = my_source.path
        join run_source theirs on theirs.source_id = their_source.id
        where mine.run_id = new_run.run_id and theirs.run_id = old_run.run_id
    )
order by new_run.run_id
