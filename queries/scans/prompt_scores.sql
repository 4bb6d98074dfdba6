-- Means over draws of the scores that scanners gave, per prompt (as pooled_score.sql).
-- grain: one row per run, prompt, metric and perturbation
insert into prompt_score (
    run_id, prompt_id, metric_id, perturbation, value, weight, n_draws, within_variance, n_scored,
    n_unscored, is_binary
)
select score.run_id, score.prompt_id, score.metric_id, prompt_variant.perturbation,
    avg(score.value), 1.0, count(score.value),
    case when count(score.value) > 1 then var_samp(score.value) end,
    cast(count(score.value) as integer), cast(count(*) - count(score.value) as integer),
    coalesce(bool_and(score.value in (0, 1)) filter (where score.value is not null), false)
from score
join scanned_pair pair on pair.run_id = score.run_id and pair.metric_id = score.metric_id
join prompt_variant on prompt_variant.id = score.variant_id
group by score.run_id, score.prompt_id, score.metric_id, prompt_variant.perturbation
order by score.run_id, score.metric_id, score.prompt_id, prompt_variant.perturbation
