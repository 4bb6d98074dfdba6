-- The prompts that a source has facts or votes of.
-- grain: one row per prompt
with held as (
    select prompt_score.prompt_id
    from run_source
    join prompt_score on prompt_score.run_id = run_source.run_id
    where run_source.source_id = :source
    union
    select generation.prompt_id
    from run_source
    join generation on generation.run_id = run_source.run_id
    where run_source.source_id = :source
    union
    select choice.prompt_id
    from run_source
    join choice on choice.run_id = run_source.run_id
    where run_source.source_id = :source
    union
    select prompt_id from preference where source_id = :source
)
select prompt.benchmark_id, prompt.id
from held
join prompt on prompt.id = held.prompt_id
order by prompt.benchmark_id, prompt.id
