-- Answers of runs to unperturbed prompts, with the score of each.
-- grain: one row per run, prompt, variant and draw (and scorer, where several judge)
-- The range says nothing new: by it an engine passes over the rows of all other runs.
-- placeholder: column column -- the text: an extracted answer or a short response
-- placeholder: join join -- to the table of responses, where they are read
select fact.run_id, fact.prompt_id, {column} as answer, score.value
from generation fact
join prompt_variant variant on variant.id = fact.variant_id
left join score on score.run_id = fact.run_id and score.prompt_id = fact.prompt_id
    and score.variant_id = fact.variant_id and score.draw = fact.draw
    and score.metric_id in (:metric_ids)
{join}
where variant.perturbation = '' and fact.draw >= 0 and fact.run_id in (:run_ids)
    and fact.run_id between :first_run_id and :last_run_id
order by fact.run_id, fact.prompt_id, fact.variant_id, fact.draw
