-- What was drawn to be labelled beside judges: of each run all waves, the newest last.
-- grain: one row per run, metric of a judge, prompt and wave
select run_id, metric_id, prompt_id, wave, rule, stratum, probability
from label_draw
where benchmark_id in (:benchmark_ids) and metric_id in (:metric_ids)
    and run_id is not null and prompt_id is not null
order by run_id, drawn_at, wave, prompt_id
