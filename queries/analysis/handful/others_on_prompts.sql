-- What other runs of a benchmark score on its prompts, links followed.
-- grain: one row per prompt
select coalesce(prompt_link.canonical_prompt_id, fact.prompt_id) as prompt_id,
    avg(fact.value) as value
from prompt_score fact
join run on run.id = fact.run_id and run.benchmark_id = :benchmark_id
left join prompt_link on prompt_link.prompt_id = fact.prompt_id
where fact.perturbation = '' and fact.metric_id = :metric_id and fact.value is not null
    and fact.run_id not in (:run_ids)
group by coalesce(prompt_link.canonical_prompt_id, fact.prompt_id)
