-- Votes as the store keeps them: of several that are one, the first or the last.
-- grain: one row per vote
select source_id, benchmark_id, prompt_id, variant_id, checkpoint_a_id, checkpoint_b_id, first,
    scorer_id, voter, outcome, weight,
    cast(case when is_own then place else draw end as integer) as draw,
    covariates, created_at
from stage_preference
where is_own or place = case when :last = 1 then n_same - 1 else 0 end
order by source_id, benchmark_id, scorer_id, prompt_id, checkpoint_a_id, checkpoint_b_id, voter, r
