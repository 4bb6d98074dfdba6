-- Whether runs that are loaded together say different things of a prompt, or some say more.
-- grain: one row
select coalesce(bool_or(n > 1), false) as varies
from (
    select count(distinct md5(concat_ws(chr(31), coalesce(s.text, ''), coalesce(s.target, ''),
        coalesce(s.choices, ''), coalesce(s.metadata, '')))) as n
    from stage_item as i
    join stage_run as h on h.run = i.run
    join stage_sample as s on s.rowid = i.first_r
    group by h.benchmark_id, h.split, i.key, i.occurrence
) as said
