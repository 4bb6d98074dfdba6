-- The prompts of a benchmark whose normalised question another of its prompts has too, with what
-- else tells questions apart; of a question those with content first, then by id.
-- grain: one row per prompt
select prompt.id, prompt.text_hash as value, prompt.target,
    cast(prompt.choices as varchar) as choices
from prompt
where prompt.benchmark_id = :benchmark
  and prompt.text_hash in (
    select text_hash from prompt
    where benchmark_id = :benchmark and text_hash is not null
    group by text_hash
    having count(*) > 1
  )
order by prompt.text_hash,
    case when prompt.key_kind = 'content' then 0 else 1 end, prompt.id
