-- Prompts of a run's benchmark and split whose id, id in the harness, key or start of the key is a
-- text.
-- grain: one row per prompt
select distinct prompt.id, prompt.key, prompt.occurrence, prompt.tool_id
from prompt
join run on run.benchmark_id = prompt.benchmark_id and run.split = prompt.split
where run.id = :run and (
    prompt.tool_id = :text or '' || prompt.id = :text or prompt.key = :text
    or (:prefix_length >= 6 and substring(prompt.key from 1 for :prefix_length) = :text))
order by prompt.id nulls last
