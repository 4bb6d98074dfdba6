-- The prompts of some benchmarks that have a text, and the runs that have a score of them.
-- grain: one row per prompt and run; a prompt without a score has one row, its run_id null
with asked as (
  select distinct prompt_score.prompt_id, prompt_score.run_id
  from prompt_score
  join run on run.id = prompt_score.run_id
  where run.benchmark_id in (:benchmarks)
)
select prompt.id, prompt.benchmark_id, prompt.text, prompt.target, asked.run_id
from prompt
left join asked on asked.prompt_id = prompt.id
where prompt.benchmark_id in (:benchmarks) and prompt.text is not null
order by prompt.id, asked.run_id
