-- Whether new prompts lack something in their first row that another row of the source may say.
-- grain: one row
select (count(s.text) < count(*)
        and exists (select 1 from stage_sample where text is not null))
    or (count(s.target) < count(*)
        and exists (select 1 from stage_sample where target is not null))
    or (count(s.choices) < count(*)
        and exists (select 1 from stage_sample where choices is not null))
    or (count(s.metadata) < count(*)
        and exists (select 1 from stage_sample where metadata is not null)) as lacks
from new_prompt as n
join stage_sample as s on s.rowid = n.first_r
