-- What pooled_score.sql says where each score is the only one of its run, prompt and metric:
-- to group them takes four times as long. Zeros are added as a sum does it, which makes 0 of -0.
-- grain: one row per run, prompt, metric and perturbation
with single as (
    select s.run, s.prompt_id, s.metric_id, v.perturbation, s.value as said,
        (0.0 + s.value * s.weight * s.n_draws) / nullif(0.0 + s.weight * s.n_draws, 0) as value,
        case when s.value is not null then (0.0 + s.weight * s.n_draws) / s.n_draws end as weight,
        cast(case when s.value is not null then s.n_draws else 0 end as bigint) as n_draws
    from stage_score as s
    join variant_id as v on v.variant_id = s.variant_id
)
select run, prompt_id, metric_id, perturbation, value, coalesce(weight, 1.0) as weight, n_draws,
    case when n_draws > 1 and said >= 0 and said <= 1
        then value * (1 - value) * n_draws / (n_draws - 1) end as within_variance,
    cast(said is not null as integer) as n_scored, cast(said is null as integer) as n_unscored,
    coalesce(said = 0 or said = 1, false) as is_binary
from single
