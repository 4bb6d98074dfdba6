-- Prompts that are known by an id alone, of which rows of one variant ask different questions.
-- grain: one row
select count(*) as n, min(item) as first
from (
    select r.run, r.item
    from stage_row as r
    join stage_sample as s on s.rowid = r.r
    where r.has_id and r.key_no < 0
    group by r.run, r.item, r.variant_no
    having min(s.text) <> max(s.text)
) as mixed
