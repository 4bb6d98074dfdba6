-- Whether one content is that of several prompts of a benchmark: unless it is, no run has fewer
-- contents than prompts.
-- grain: one row
-- placeholder: runs column -- numbers of the runs to look at, with commas between them
select count(*) > 0 as is_shared
from (
    select 1
    from stage_fact as f
    join stage_run as h on h.run = f.run
    where f.run in ({runs}) and f.content is not null
    group by h.benchmark_id, f.content
    having min(f.prompt_id) < max(f.prompt_id)
) as several
