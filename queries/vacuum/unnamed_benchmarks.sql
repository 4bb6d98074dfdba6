-- Benchmarks that no run, vote, figure, prompt or statement is about, nor about any below them.
-- grain: one row per benchmark
create temp table unnamed_benchmark as
with recursive named (id) as (
    select benchmark_id from run
    union
    select benchmark_id from preference
    union
    select benchmark_id from label_draw
    union
    select benchmark_id from published_score
    union
    select benchmark_id from prompt
    union
    select subject_id from statement where about = 'suites'
    union
    select benchmark.parent_id
    from named
    join benchmark on benchmark.id = named.id
    where benchmark.parent_id is not null
)
select id from benchmark where id not in (select id from named)
