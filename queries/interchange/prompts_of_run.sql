-- Prompts that a run has scores, responses or choices of.
-- grain: one row per prompt
select prompt.id, prompt.occurrence from prompt
where prompt.id in (
    select prompt_id from score where run_id = :run
    union select prompt_id from generation where run_id = :run
    union select prompt_id from choice where run_id = :run)
order by prompt.id nulls last
