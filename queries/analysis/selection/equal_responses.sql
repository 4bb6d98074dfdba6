-- Responses of runs with their scores, as they are held against those of other runs: stored ones
-- of prompts of which no source says another target.
-- grain: one row per run, metric, prompt, variant, text and transcript
-- columns:
--   response_hash: of the text
--   short_text: the text where it has fewer than 20 characters, which may be an option's letter
--   has_target: 1 where the target of the prompt is stored
--   talked: id of the run where there is a transcript
--   messages_hash: of the whole transcript
--   value: mean score of equal responses of the run
select
    generation.run_id, score.metric_id, generation.prompt_id, generation.variant_id,
    generation.response_hash, transcript.messages_hash,
    max(case when length(content.text) < 20 then content.text end) as short_text,
    max(case when prompt.target is null then 0 else 1 end) as has_target,
    min(transcript.run_id) as talked, avg(score.value) as value
from generation
join score
    on score.run_id = generation.run_id and score.prompt_id = generation.prompt_id
    and score.variant_id = generation.variant_id and score.draw = generation.draw
join content on content.sha256 = generation.response_hash
join prompt on prompt.id = generation.prompt_id
left join transcript
    on transcript.run_id = generation.run_id and transcript.prompt_id = generation.prompt_id
    and transcript.variant_id = generation.variant_id and transcript.draw = generation.draw
where generation.run_id in (:run_ids) and score.run_id in (:run_ids)
    and score.metric_id in (:metric_ids) and abs(score.value) < 1e300
    and content.text is not null
    and not exists (
        select 1 from statement
        where statement.about = 'prompt' and statement.subject_id = prompt.id
            and position('"target"' in cast(statement.said as varchar)) > 0
    )
group by
    generation.run_id, score.metric_id, generation.prompt_id, generation.variant_id,
    generation.response_hash, transcript.messages_hash
