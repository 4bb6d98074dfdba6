-- Score of a benchmark by the k-th draw of every prompt; repeats go on counting.
-- grain: one row per condition and number of the draw
-- placeholder: most number -- of draws
with draws as (
  select run.condition_key, score.value,
    row_number() over (
      partition by run.condition_key, score.prompt_id
      order by score.run_id, score.variant_id, score.draw
    ) as place
  from score
  join run on run.id = score.run_id
  join prompt_variant on prompt_variant.id = score.variant_id
  where prompt_variant.perturbation = '' and score.value is not null and score.n_draws = 1
    and score.metric_id in (:metric_ids) and score.run_id in (:run_ids)
)
select condition_key, place, avg(value) as score, count(*) as n_prompts
from draws
where place <= {most}
group by condition_key, place
order by condition_key, place
