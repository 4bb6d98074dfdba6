-- What tells which prompts a figure rests on: sets that differ have other sums, but for chance.
-- grain: one row per run and metric
select run_id, metric_id, cast(sum(mod(prompt_id * 2654435761, 1000003)) as bigint) as prompt_set
from prompt_score
where run_id in (:run_ids) and value is not null
group by run_id, metric_id
