-- Whether new prompts lack something in their first row that another row of the source may say.
-- grain: one row
select (count(s.text) < count(*) and (select count(text) > 0 from stage_sample))
    or (count(s.target) < count(*) and (select count(target) > 0 from stage_sample))
    or (count(s.choices) < count(*) and (select count(choices) > 0 from stage_sample))
    or (count(s.metadata) < count(*) and (select count(metadata) > 0 from stage_sample)) as lacks
from new_prompt as n
join stage_sample as s on s.rowid = n.first_r
