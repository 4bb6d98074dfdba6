-- Benchmarks that have new prompts (ids above :last_prompt), and more prompts than any of their
-- runs has: without one, all runs of a benchmark share theirs.
-- grain: one row per benchmark and split
with size as (
    select benchmark_id, split, count(*) as n_prompts
    from prompt
    group by benchmark_id, split
    having max(id) > :last_prompt
)
select size.benchmark_id, size.split
from size
join run on run.benchmark_id = size.benchmark_id and run.split = size.split
where run.superseded_by is null and run.status <> 'invalidated'
group by size.benchmark_id, size.split, size.n_prompts
having size.n_prompts > coalesce(max(case when run.n_scores > 0 then run.n_found end), 0)
