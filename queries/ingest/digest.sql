-- Order-free digest of each run's facts: their count and the sum of their 64-bit hashes.
-- grain: one row per run
with line as (
    select run, xor(place, md5_number_lower(metric || coalesce(cast(value as varchar), 'null')))
        as hash
    from stage_score
    union all
    select run, xor(place, md5_number_lower(coalesce(response_hash, ''::blob)))
    from stage_generation
    union all
    select run, xor(place, md5_number_lower(
        choice_index || chr(31) || coalesce(cast(loglikelihood as varchar), 'null')
    ))
    from stage_choice
)
select run, count(*) as n, cast(sum(hash) as varchar) as total
from line
group by run
