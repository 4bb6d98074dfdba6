-- The variants that the rows of a source name.
-- grain: one row per perturbation, draw of few-shot examples and template
create or replace table stage_variant as
select cast(row_number() over () - 1 as integer) as variant_no, *
from (
    select distinct coalesce(perturbation, '') as perturbation,
        coalesce(fewshot_draw, '') as fewshot_draw, coalesce(template, '') as template
    from stage_sample
) as found
