-- Mean of each draw, by metrics of which each draw of a run has as many scores, more than one, each
-- of one generation for a prompt, without weights.
-- grain: one row per run, metric, variant and draw
with drawn as (
    select run_id, metric_id, variant_id, draw, sum(value) / count(*) as value,
        count(*) as n_prompts,
        bool_and(value is not null and weight = 1 and n_draws = 1 and draw >= 0) as is_plain
    from stage_score join run_id using (run)
    group by run_id, metric_id, variant_id, draw
),
kept as (
    select run_id, metric_id from drawn group by run_id, metric_id
    having bool_and(is_plain) and count(*) > 1 and min(n_prompts) = max(n_prompts)
        and min(n_prompts) > 1
)
select drawn.* exclude (is_plain)
from drawn semi join kept using (run_id, metric_id)
order by run_id, metric_id, variant_id, draw
