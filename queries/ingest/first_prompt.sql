-- All prompts of a source that is the only one of its session: none has been held against the
-- store.
-- grain: one row per prompt
create or replace temp table unsettled_prompt as
select distinct prompt_id from stage_prompt
