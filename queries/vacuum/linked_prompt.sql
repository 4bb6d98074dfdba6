-- A prompt that stands for others which runs have something about stays.
-- grain: one row per prompt
delete from unheld_prompt
where id in (
    select canonical_prompt_id from prompt_link
    where prompt_id not in (select id from unheld_prompt)
)
