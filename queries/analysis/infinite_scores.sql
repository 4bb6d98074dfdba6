-- Infinite scores of unperturbed prompts. They are kept as text: one of them would end every view that calculates with
-- it, on one of the engines.
-- grain: one row per run, metric and prompt
with kept as (
    select score.run_id, score.metric_id, score.prompt_id, score.variant_id,
        lower(trim(replace(score.raw, '"', ''))) as word
    from score
    where score.value is null and score.raw is not null
        and score.run_id in (:run_ids) and score.metric_id in (:metric_ids)
)
select kept.run_id, kept.metric_id, kept.prompt_id,
    cast(sum(case when kept.word like '-%' then 0 else 1 end) as integer) as n_above,
    cast(sum(case when kept.word like '-%' then 1 else 0 end) as integer) as n_below
from kept
join prompt_variant on prompt_variant.id = kept.variant_id
where prompt_variant.perturbation = ''
    and kept.word in ('inf', '+inf', 'infinity', '+infinity', '-inf', '-infinity')
group by kept.run_id, kept.metric_id, kept.prompt_id
