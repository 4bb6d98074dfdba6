-- Votes that stand more than once in a source, by one who is known, and whether they agree.
-- grain: one row per source
with same as (
    select part, max(n_same) - 1 as n_more, min(said) <> max(said) as differ,
        min(r) as first_r, max(r) as last_r
    from stage_preference
    where not is_own and n_same > 1
    group by part, source_id, benchmark_id, scorer_id, voter, prompt_id, variant_id,
        checkpoint_a_id, checkpoint_b_id, first, draw
)
select part, cast(sum(n_more) as bigint) as n, count(*) filter (where differ) as n_differ,
    min(first_r) filter (where differ) as first_r, arg_min(last_r, first_r) filter (where differ)
        as last_r
from same
group by part
order by part
