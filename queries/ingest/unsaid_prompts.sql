-- Whether new prompts lack something in their first row that another row of the source may say.
-- Rows without a value are looked for: where statistics say that none is, no text is read.
-- grain: one row
with first_row as not materialized (
    select s.text, s.target, s.choices, s.metadata
    from stage_sample as s
    semi join new_prompt as n on n.first_r = s.rowid
)
select (exists (select 1 from first_row where text is null)
        and exists (select 1 from stage_sample where text is not null))
    or (exists (select 1 from first_row where target is null)
        and exists (select 1 from stage_sample where target is not null))
    or (exists (select 1 from first_row where choices is null)
        and exists (select 1 from stage_sample where choices is not null))
    or (exists (select 1 from first_row where metadata is null)
        and exists (select 1 from stage_sample where metadata is not null)) as lacks
