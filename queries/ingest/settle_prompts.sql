-- Keeps which prompts are stored as the source says, with the number of what it leaves unsaid.
-- grain: one row per prompt
insert into settled_prompt
select prompt_id, said, coalesce(unsaid_no, 0)
from unsettled_prompt
anti join unlike using (prompt_id)
left join lacking using (prompt_id)
where is_one
