-- Benchmarks whose targets are a few classes, 2 to :most different ones, on :fewest prompts
-- or more.
-- Letters and digits are places of options, which differ in what they say from prompt to prompt.
-- grain: one row per benchmark
select benchmark_id
from prompt
where target is not null
group by benchmark_id
having count(distinct target) between 2 and :most and count(*) >= :fewest
    and max(length(target)) > 1
order by benchmark_id
