-- Prompts that are known to be stored as the source says, of which it does not say all that stands:
-- the number of what that is.
-- grain: one row per prompt
select k.prompt_id, k.unsaid_no
from said_hash as s
join settled_prompt as k on k.prompt_id = s.prompt_id and k.said = s.said
where s.is_one and k.unsaid_no > 0
order by k.prompt_id
