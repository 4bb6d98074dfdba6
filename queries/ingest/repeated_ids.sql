-- Whether a source has questions, and several rows of a prompt that is known by an id alone.
-- grain: one row
select exists (select 1 from stage_sample where text is not null)
    and (select count(*) from stage_row where has_id and key_no < 0)
        > (select count(*) from stage_item where key_kind = 'id') as repeats
