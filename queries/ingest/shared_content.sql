-- Whether one content is that of several prompts of a benchmark: unless it is, no run has fewer
-- contents than prompts.
-- grain: one row
-- placeholder: runs column -- numbers of the runs to look at, with commas between them
select count(*) > 0 as is_shared
from (
    select 1
    from stage_fact as f
    join stage_run as h on h.run = f.run
    join stage_row as w on w.r = f.r
    join stage_sample as s on s.rowid = f.r
    where f.run in ({runs}) and (w.key_no >= 0 or s.text is not null)
    group by h.benchmark_id,
        case when w.key_no >= 0 then hash(w.key_no) else hash(s.text, s.target, s.choices) end
    having min(f.prompt_id) < max(f.prompt_id)
) as several
