-- Rows of draw_score that differ from what score gives (1e-9 relative), of runs and metrics that
-- have any.
-- grain: one row per run and fault
-- columns:
--   run_id: id of the run
--   fault: missing, surplus, or what differs: n_prompts, value, or draws that are not plain
--   n: rows
with expected as (
  select score.run_id, score.metric_id, score.variant_id, score.draw,
    sum(score.value) / count(*) as mean, max(abs(score.value)) as size, count(*) as n_scores,
    bool_and(
      score.value is not null and score.weight = 1 and score.n_draws = 1 and score.draw >= 0
    ) as is_plain
  from score
  join (select distinct run_id, metric_id from draw_score) kept
    on kept.run_id = score.run_id and kept.metric_id = score.metric_id
  group by score.run_id, score.metric_id, score.variant_id, score.draw
),
compared as (
  select
    coalesce(held.run_id, expected.run_id) as run_id,
    case
      when held.run_id is null then 'missing'
      when expected.run_id is null then 'surplus'
      when not expected.is_plain then 'plain'
      when held.n_prompts <> expected.n_scores then 'n_prompts'
      when not abs(held.value - expected.mean) <= 1e-9 * expected.size then 'value'
    end as fault
  from expected
  full join draw_score held
    on held.run_id = expected.run_id
    and held.metric_id = expected.metric_id
    and held.variant_id = expected.variant_id
    and held.draw = expected.draw
)
select run_id, fault, count(*) as n
from compared
where fault is not null
group by run_id, fault
order by run_id nulls last, fault nulls last
