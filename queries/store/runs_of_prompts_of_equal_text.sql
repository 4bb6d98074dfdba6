-- Which runs have a score of a prompt of a benchmark whose normalised question another of its
-- prompts has too.
-- grain: one row per prompt and run
select distinct prompt_score.prompt_id, prompt_score.run_id
from prompt_score
join prompt on prompt.id = prompt_score.prompt_id
where prompt.benchmark_id = :benchmark
  and prompt.text_hash in (
    select text_hash from prompt
    where benchmark_id = :benchmark and text_hash is not null
    group by text_hash
    having count(*) > 1
  )
order by prompt_score.prompt_id, prompt_score.run_id
