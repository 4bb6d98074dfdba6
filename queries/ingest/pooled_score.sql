-- Mean over draws and draws of few-shot examples, per prompt; never over perturbations.
-- A stored rate of K draws has the variance p(1-p)K/(K-1) within the prompt.
-- grain: one row per run, prompt, metric and perturbation
create or replace temp table pooled_score as
with pooled as (
    select s.run, s.prompt_id, s.metric_id, v.perturbation,
        sum(n_draws) filter (where value is not null) as n_draws,
        sum(value * weight * n_draws) / nullif(sum(weight * n_draws)
            filter (where value is not null), 0) as value,
        coalesce(sum(weight * n_draws) filter (where value is not null)
            / sum(n_draws) filter (where value is not null), 1.0) as weight,
        var_samp(value) as variance_of_draws,
        max(n_draws) as largest, min(value) as low, max(value) as high,
        count(value) as n_scored, count(*) - count(value) as n_unscored,
        coalesce(bool_and(value = 0 or value = 1) filter (where value is not null), false)
            as is_binary
    from stage_score as s
    join variant_id as v on v.variant_id = s.variant_id
    group by s.run, s.prompt_id, s.metric_id, v.perturbation
)
select run, prompt_id, metric_id, perturbation, value, weight,
    cast(coalesce(n_draws, 0) as bigint) as n_draws,
    case
        when n_draws < 2 then null
        when largest > 1 and low >= 0 and high <= 1
            then value * (1 - value) * n_draws / (n_draws - 1)
        when largest > 1 then null
        else variance_of_draws
    end as within_variance,
    cast(n_scored as integer) as n_scored, cast(n_unscored as integer) as n_unscored, is_binary
from pooled
