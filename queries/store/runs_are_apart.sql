-- Whether no draw of a prompt has facts in both of two runs.
-- grain: one row
select not exists (
        select 1
        from score as one
        join score as other on other.prompt_id = one.prompt_id
            and other.variant_id = one.variant_id and other.draw = one.draw
        where one.run_id = :one and other.run_id = :other
    )
    and not exists (
        select 1
        from generation as one
        join generation as other on other.prompt_id = one.prompt_id
            and other.variant_id = one.variant_id and other.draw = one.draw
        where one.run_id = :one and other.run_id = :other
    ) as are_apart
