-- Infinite scores of unperturbed prompts. They are kept as text: one of them would end every view
-- that calculates with it, on one of the engines. Where no score can be infinite (the others are 0
-- or 1, or bounds are declared) it is none, as in the view infinite_score.
-- grain: one row per run, metric and prompt
with kept as (
    select score.run_id, score.metric_id, score.prompt_id, score.variant_id,
        lower(score.raw) as word
    from score
    where score.value is null and score.raw is not null
        and score.run_id in (:run_ids) and score.metric_id in (:metric_ids)
),
signed as (
    select kept.run_id, kept.metric_id, kept.prompt_id, kept.variant_id,
        case when kept.word in ('-inf', '-infinity', '"-inf"', '"-infinity"') then 1 else 0 end
            as is_below
    from kept
    where kept.word in ('inf', '+inf', 'infinity', '+infinity', '"inf"', '"+inf"', '"infinity"',
        '"+infinity"', '-inf', '-infinity', '"-inf"', '"-infinity"')
)
select signed.run_id, signed.metric_id, signed.prompt_id,
    cast(sum(1 - signed.is_below) as integer) as n_above,
    cast(sum(signed.is_below) as integer) as n_below
from signed
join prompt_variant on prompt_variant.id = signed.variant_id
join run on run.id = signed.run_id
join benchmark_metric
    on benchmark_metric.benchmark_id = run.benchmark_id
    and benchmark_metric.metric_id = signed.metric_id
where prompt_variant.perturbation = '' and (benchmark_metric.kind is null
    or benchmark_metric.kind = 'continuous'
    or (benchmark_metric.kind = 'bounded' and benchmark_metric.is_inferred))
group by signed.run_id, signed.metric_id, signed.prompt_id
