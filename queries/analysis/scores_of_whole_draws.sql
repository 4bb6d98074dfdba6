-- Score of a benchmark by each draw of each run, as it is stored; a rate is no draw.
-- grain: one row per run, prompt variant and draw
select of_draw.run_id, of_draw.score, of_draw.n_prompts
from (
  select score.run_id, score.variant_id, score.draw,
    sum(score.value) / count(*) as score, count(*) as n_prompts
  from score
  where score.value is not null and score.n_draws = 1
    and score.metric_id in (:metric_ids) and score.run_id in (:run_ids)
  group by score.run_id, score.variant_id, score.draw
) of_draw
join prompt_variant on prompt_variant.id = of_draw.variant_id
where prompt_variant.perturbation = ''
order by of_draw.run_id, of_draw.variant_id, of_draw.draw
