-- Prompts with the text of some prompts.
-- grain: one row per pair of such prompts
-- placeholder: ids numbers -- ids of the prompts
select prompt.id as prompt_id, prompt.text_hash
from prompt
join prompt first_one on first_one.text_hash = prompt.text_hash
where first_one.id in ({ids})
order by prompt.id
