-- The prompts of a benchmark whose normalised question another of its prompts has too, with what
-- else tells questions apart and the runs that have a score of them; of a question those with
-- content first, then by id.
-- grain: one row per prompt and run; a prompt without a score has one row, its run_id null
with asked as (
  select distinct prompt_score.prompt_id, prompt_score.run_id
  from prompt_score
  join run on run.id = prompt_score.run_id
  where run.benchmark_id = :benchmark
)
select prompt.id, prompt.text_hash as value, prompt.target,
  cast(prompt.choices as varchar) as choices, asked.run_id
from prompt
left join asked on asked.prompt_id = prompt.id
where prompt.benchmark_id = :benchmark
  and prompt.text_hash in (
    select text_hash from prompt
    where benchmark_id = :benchmark and text_hash is not null
    group by text_hash
    having count(*) > 1
  )
order by prompt.text_hash,
  case when prompt.key_kind = 'content' then 0 else 1 end, prompt.id, asked.run_id
