-- Votes of some scorers on some benchmarks, as numbers: 0 where a is meant, 1 where b is, of orders
-- 2 where it is unknown; of outcomes 2 is a tie, 3 one of two bad answers, -1 no verdict.
-- grain: one row per vote
select vote.source_id, vote.scorer_id, vote.variant_id, vote.checkpoint_a_id, vote.checkpoint_b_id,
    coalesce(link.canonical_prompt_id, vote.prompt_id, -1) as prompt_id, vote.voter, vote.draw,
    case vote.first when 'a' then 0 when 'b' then 1 else 2 end as shown_first,
    case vote.outcome when 'a' then 0 when 'b' then 1 when 'tie' then 2 when 'both_bad' then 3
        else -1 end as outcome,
    vote.weight,
    case when run_a.superseded_by is not null or run_b.superseded_by is not null
        or run_a.status = 'invalidated' or run_b.status = 'invalidated' then 1 else 0
        end as is_hidden,
    case when :with_covariates = 1 then cast(vote.covariates as varchar) end as covariates
from preference vote
left join prompt_link link on link.prompt_id = vote.prompt_id
left join run run_a on run_a.id = vote.run_a_id
left join run run_b on run_b.id = vote.run_b_id
where vote.benchmark_id in (:benchmark_ids) and vote.scorer_id in (:scorer_ids)
