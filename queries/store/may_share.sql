-- Whether there is more than one benchmark, and whether any two sources have equal bytes: without
-- these, no benchmarks share prompts or files.
-- grain: one row
select (select count(*) from benchmark) > 1 as has_several,
    exists (select sha256 from source group by sha256 having count(*) > 1) as has_copies
