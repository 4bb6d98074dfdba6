-- Whether there is more than one benchmark, and whether any two sources have equal bytes: without
-- these, no benchmarks share prompts or files. And whether any metric is not known to lie from 0
-- to 1: without one, no scores are on two scales.
-- grain: one row
select (select count(*) from benchmark) > 1 as has_several,
    exists (select sha256 from source group by sha256 having count(*) > 1) as has_copies,
    exists (
        select id from benchmark_metric
        where coalesce(kind, '') <> 'binary' and (high is null or high > 1)
    ) as has_unbounded
