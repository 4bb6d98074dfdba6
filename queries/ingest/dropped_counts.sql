-- How many rows of a dump say nothing that another does not, and how many something else.
-- A row with another metric of a generation, whose text it repeats, is neither.
-- grain: one row
select count(*) filter (where not is_other and r not in (
        select r from stage_score
        union all select r from stage_choice
        union all select r from stage_generation
    )) as same,
    count(*) filter (where is_other) as other
from (select r, bool_or(is_other) as is_other from dropped_row group by r) as dropped
