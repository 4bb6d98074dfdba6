-- Samples of unperturbed prompts whose status (:statuses) a policy gives a meaning, with the
-- numbers that sources stored of them, and the worst score that their metric has.
-- grain: one row per run, metric, prompt and status
-- columns: n: draws; n_valued: of these with a number; total, squares: sums of the numbers and of
--   their squares; worst: null if the metric has no bound on its bad side, or no known direction
select score.run_id, score.metric_id, score.prompt_id, score.status,
    cast(sum(score.n_draws) as integer) as n,
    cast(sum(case when score.value is null then 0 else score.n_draws end) as integer) as n_valued,
    coalesce(sum(score.value * score.n_draws), 0) as total,
    coalesce(sum(score.value * score.value * score.n_draws), 0) as squares,
    min(case when described.higher_is_better is null then null
        when described.higher_is_better
            then coalesce(described.low, case when described.kind = 'binary' then 0 end)
        else coalesce(described.high, case when described.kind = 'binary' then 1 end)
        end) as worst
from score
join prompt_variant on prompt_variant.id = score.variant_id
join run on run.id = score.run_id
left join benchmark_metric described on described.benchmark_id = run.benchmark_id
    and described.metric_id = score.metric_id
where prompt_variant.perturbation = '' and score.status in (:statuses)
    and score.run_id in (:run_ids) and score.metric_id in (:metric_ids)
group by score.run_id, score.metric_id, score.prompt_id, score.status
