-- Models in benchmarks with new prompts (ids above :last_prompt), and more of them than any run has
-- or says that there are: how many prompts only the new runs (from :first_run on) of a model have;
-- without those that have an id and a text of their own, which are other questions.
-- grain: one row per benchmark, split and model
with size as (
    select benchmark_id, split, count(*) as n_prompts
    from prompt
    group by benchmark_id, split
    having max(id) > :last_prompt
),
ran as (
    select run.benchmark_id, run.split, training_seed.model_id, min(run.id) as earliest,
        max(run.n_found) as n_found, max(run.n_benchmark) as n_benchmark
    from run
    join checkpoint on checkpoint.id = run.checkpoint_id
    join training_seed on training_seed.id = checkpoint.training_seed_id
    where run.superseded_by is null and run.status <> 'invalidated' and run.n_scores > 0
    group by run.benchmark_id, run.split, training_seed.model_id
),
apart as (
    select size.benchmark_id, size.split
    from size
    join ran on ran.benchmark_id = size.benchmark_id and ran.split = size.split
    group by size.benchmark_id, size.split, size.n_prompts
    having count(*) > 1
        and size.n_prompts > max(greatest(ran.n_found, coalesce(ran.n_benchmark, 0)))
),
fresh as (
    select prompt.id, prompt.benchmark_id, prompt.split, prompt.key_kind, prompt.text_hash,
        min(training_seed.model_id) as model_id
    from apart
    join run on run.benchmark_id = apart.benchmark_id and run.split = apart.split
    join checkpoint on checkpoint.id = run.checkpoint_id
    join training_seed on training_seed.id = checkpoint.training_seed_id
    join prompt_score on prompt_score.run_id = run.id
    join prompt on prompt.id = prompt_score.prompt_id
    where run.id >= :first_run and prompt.id > :last_prompt
        and run.superseded_by is null and run.status <> 'invalidated'
    group by prompt.id, prompt.benchmark_id, prompt.split, prompt.key_kind, prompt.text_hash
    having count(distinct training_seed.model_id) = 1
),
own as (
    select benchmark_id, split, model_id, count(*) as n_own
    from fresh
    where key_kind <> 'id' or text_hash is null or exists (
        select 1
        from prompt twin
        where twin.benchmark_id = fresh.benchmark_id and twin.text_hash = fresh.text_hash
            and twin.id <> fresh.id
    )
    group by benchmark_id, split, model_id
)
select benchmark.name as benchmark, apart.split, model.name as model,
    cast(ran.n_found as bigint) as n_found,
    cast(case when ran.earliest >= :first_run then coalesce(own.n_own, 0) else 0 end as bigint)
        as n_own
from apart
join ran on ran.benchmark_id = apart.benchmark_id and ran.split = apart.split
left join own
    on own.benchmark_id = ran.benchmark_id and own.split = ran.split and own.model_id = ran.model_id
join benchmark on benchmark.id = apart.benchmark_id
join model on model.id = ran.model_id
order by benchmark.name, apart.split, model.name
