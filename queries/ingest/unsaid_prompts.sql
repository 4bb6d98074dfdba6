-- Whether new prompts lack something in their first row that another row of the source may say.
-- Rows without a value are looked for: where statistics say that none is, no text is read.
-- grain: one row
-- placeholder: lacking condition -- of the columns that may hold anything
with first_row as not materialized (
    select s.text, s.target, s.choices, s.metadata
    from stage_sample as s
    semi join new_prompt as n on n.first_r = s.rowid
)
select {lacking} as lacks
