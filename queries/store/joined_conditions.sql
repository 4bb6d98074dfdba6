-- Conditions of some runs that have several current runs with samples, which score so many
-- prompts otherwise that they may not be repeats of one another: a single one without sampling.
-- grain: one row per condition, the last first
with current_run as (
  select id, condition_key, temperature, n_found
  from run
  where superseded_by is null and status <> 'invalidated'
),
joined as (
  select
    new_run.condition_key,
    max(new_run.id) as last_id,
    count(distinct other.id) as n_runs,
    min(other.temperature) as temperature
  from current_run new_run
  join current_run other on other.condition_key = new_run.condition_key
  where new_run.id in (:run_ids) and other.n_found > 0
  group by new_run.condition_key
  having count(distinct other.id) > 1
),
differing as (
  select current_run.condition_key, prompt_score.metric_id, prompt_score.prompt_id
  from joined
  join current_run on current_run.condition_key = joined.condition_key
  join prompt_score on prompt_score.run_id = current_run.id
  group by current_run.condition_key, prompt_score.metric_id, prompt_score.prompt_id
  having max(prompt_score.value) > min(prompt_score.value)
),
counted as (
  select condition_key, metric_id, count(*) as n_differ
  from differing
  group by condition_key, metric_id
)
select joined.condition_key, joined.last_id
from joined
where exists (
  select 1 from counted
  where counted.condition_key = joined.condition_key
    and (
      joined.temperature = 0
      or counted.n_differ
        >= case when joined.n_runs = 2 then :fewest_of_two else :fewest_of_more end
    )
)
order by joined.last_id desc nulls last, joined.condition_key nulls last
limit :most
