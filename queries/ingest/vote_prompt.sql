-- The questions that votes of a load are on. Where no split is said, the only one of the benchmark
-- of that key is meant, or that has the same id in its tool, whatever its key is made of.
-- grain: one row per benchmark, split and key
create or replace temp table vote_prompt as
with said as (
    select b.benchmark_id, coalesce(v.split, '') as split, coalesce(v.identity, v.prompt_id) as key,
        min(v.r) as first_r, bool_or(v.identity is null) as is_id
    from stage_vote as v
    join vote_benchmark as b on b.benchmark = v.benchmark
    where coalesce(v.identity, v.prompt_id) is not null
    group by b.benchmark_id, coalesce(v.split, ''), coalesce(v.identity, v.prompt_id)
),
unique_name as (
    select benchmark_id, name, min(id) as id
    from (
        select benchmark_id, key as name, id from held_prompt
        union
        select benchmark_id, tool_id as name, id from held_prompt where tool_id is not null
    ) as named
    group by benchmark_id, name
    having count(*) = 1
)
select s.*, coalesce(h.id, o.id) as prompt_id
from said as s
left join held_prompt as h on h.benchmark_id = s.benchmark_id and h.split = s.split
    and h.key = s.key
left join unique_name as o on s.split = '' and o.benchmark_id = s.benchmark_id and o.name = s.key
