-- Unperturbed prompts that runs gave no answer to, so that no generation is stored of them.
-- grain: one row per run, prompt, variant and draw
select score.run_id, score.prompt_id, score.variant_id, score.draw
from score
join prompt_variant variant on variant.id = score.variant_id
left join generation on generation.run_id = score.run_id
    and generation.prompt_id = score.prompt_id
    and generation.variant_id = score.variant_id and generation.draw = score.draw
where variant.perturbation = '' and score.draw >= 0 and score.status = 'no_answer'
    and score.metric_id = :metric_id and score.run_id in (:run_ids)
    and generation.run_id is null
order by score.run_id, score.prompt_id, score.variant_id, score.draw
