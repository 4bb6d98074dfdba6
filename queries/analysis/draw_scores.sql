-- Score of a benchmark by each draw of each run, as it is kept.
-- grain: one row per run, prompt variant and draw
select draw_score.run_id, draw_score.value as score, draw_score.n_prompts
from draw_score
join prompt_variant on prompt_variant.id = draw_score.variant_id
where prompt_variant.perturbation = ''
  and draw_score.metric_id in (:metric_ids) and draw_score.run_id in (:run_ids)
order by draw_score.run_id, draw_score.variant_id, draw_score.draw
