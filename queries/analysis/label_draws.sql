-- What was drawn to be labelled beside a judge: of each run all waves.
-- grain: one row per run, prompt and wave
select run_id, prompt_id, wave, seed, rule, stratum, probability, drawn_at
from label_draw
where benchmark_id in (:benchmark_ids) and metric_id in (:metric_ids)
    and run_id is not null and prompt_id is not null
order by run_id, wave, prompt_id
