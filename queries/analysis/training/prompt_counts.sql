-- How many prompts the store has of each benchmark and split.
-- grain: one row per benchmark and split
-- placeholder: here condition -- on benchmark_id
select benchmark_id, split, count(*) as n_prompts
from prompt
where {here}
group by benchmark_id, split
