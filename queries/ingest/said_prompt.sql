-- What a source says of prompts that are not settled, from the first row of each run and item that
-- says it, with digests of what is stored.
-- grain: one row per stored prompt
create or replace temp table said_prompt as
select p.id, any_value(p.key) as key, any_value(p.key_kind) as key_kind,
    any_value(p.benchmark_id) as benchmark_id,
    any_value(p.text_hash) as stored_text_hash, any_value(p.target_md5) as stored_target,
    any_value(p.choices_md5) as stored_choices, any_value(p.metadata_md5) as stored_metadata,
    any_value(p.tool_id) as stored_tool_id,
    arg_min(s.prompt_id, i.first_r) as tool_id,
    arg_min(s.text, i.first_r) as text,
    arg_min(s.target, i.first_r) as target,
    arg_min(s.choices, i.first_r) as choices,
    arg_min(s.metadata, i.first_r) as metadata
from unsettled_prompt as u
join stage_prompt as i on i.prompt_id = u.prompt_id
join stored_prompt as p on p.id = i.prompt_id
join stage_sample as s on s.rowid = i.first_r
group by p.id
