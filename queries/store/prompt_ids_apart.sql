-- Ids of the prompts of benchmarks that have new ones (ids above :last_prompt) and more prompts
-- than any of their runs: some share no prompt with others. Of larger ones than :most_prompts none.
-- grain: one row per prompt
with size as (
    select benchmark_id, split, count(*) as n_prompts
    from prompt
    where key_kind = 'id'
    group by benchmark_id, split
    having max(id) > :last_prompt and count(*) <= :most_prompts
),
largest as (
    select size.benchmark_id, size.split, size.n_prompts - max(run.n_found) as n_more
    from size
    join run on run.benchmark_id = size.benchmark_id and run.split = size.split
    where run.superseded_by is null and run.status <> 'invalidated'
    group by size.benchmark_id, size.split, size.n_prompts
)
select benchmark.name as benchmark, prompt.id, prompt.split, prompt.key,
    cast(largest.n_more as bigint) as n_more
from largest
join prompt on prompt.benchmark_id = largest.benchmark_id and prompt.split = largest.split
join benchmark on benchmark.id = prompt.benchmark_id
where largest.n_more > 0 and prompt.key_kind = 'id'
order by benchmark.name, prompt.split, prompt.id
