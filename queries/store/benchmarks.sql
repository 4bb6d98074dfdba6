-- Benchmarks with the name that they are shown under, their size and how many current runs they
-- have.
-- grain: one row per benchmark
with counted as (
    select run.benchmark_id, count(*) as n_runs,
        count(distinct training_seed.model_id) as n_models
    from run
    join checkpoint on checkpoint.id = run.checkpoint_id
    join training_seed on training_seed.id = checkpoint.training_seed_id
    where run.status <> 'invalidated' and run.superseded_by is null
    group by run.benchmark_id
), voted as (
    select benchmark_id, count(*) as n_votes from preference group by benchmark_id
), held as (
    select parent_id, count(*) as n_benchmarks from benchmark where parent_id is not null
    group by parent_id
), sized as (
    select benchmark_id, count(*) as n_prompts from prompt group by benchmark_id
)
select benchmark.name as benchmark, coalesce(named.name, benchmark.name) as shown_as,
    parent.name as parent, benchmark.version, coalesce(sized.n_prompts, 0) as n_prompts,
    coalesce(counted.n_runs, 0) as n_runs, coalesce(counted.n_models, 0) as n_models,
    coalesce(voted.n_votes, 0) as n_votes,
    clustering.name as clustering, coalesce(held.n_benchmarks, 0) as n_benchmarks
from benchmark
left join benchmark as named on named.id = benchmark.canonical_id
left join benchmark as parent on parent.id = benchmark.parent_id
left join clustering on clustering.id = benchmark.default_clustering_id
left join counted on counted.benchmark_id = benchmark.id
left join voted on voted.benchmark_id = benchmark.id
left join held on held.parent_id = benchmark.id
left join sized on sized.benchmark_id = benchmark.id
order by benchmark.name
