-- Runs with facts on prompts of another benchmark or split.
-- grain: one row per run
-- columns:
--   run_id: id of the run
--   n: prompts
with used as (
  select run_id, prompt_id from prompt_score
  union
  select run_id, prompt_id from generation
  union
  select run_id, prompt_id from choice
)
select used.run_id, count(*) as n
from used
join run on run.id = used.run_id
join prompt on prompt.id = used.prompt_id
where prompt.benchmark_id <> run.benchmark_id or prompt.split <> run.split
group by used.run_id
order by used.run_id nulls last
