-- Prompts with the text and the template of some prompts.
-- grain: one row per pair of such prompts
-- placeholder: ids numbers -- ids of the prompts
-- placeholder: templates column -- the template that prompt.benchmark_id has now, empty for none
-- placeholder: first_templates column -- the same of first_one.benchmark_id
select prompt.id as prompt_id, prompt.text_hash, {templates} as template
from prompt
join prompt first_one on first_one.text_hash = prompt.text_hash and {first_templates} = {templates}
where first_one.id in ({ids})
order by prompt.id
