-- What was drawn to be labelled, the newest wave of a run last.
-- grain: one row per run, wave and prompt
select run_id, metric_id, prompt_id, wave, stratum, probability
from label_draw
where benchmark_id in (:benchmark_ids) and run_id is not null and prompt_id is not null
order by run_id, wave, prompt_id
