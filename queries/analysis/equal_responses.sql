-- Responses that a run shares word for word with the first run of its condition, and how many of them have another
-- score. A response counts where its text is stored and not empty, and no source says another target of its prompt;
-- a short one (below 20 characters) of a prompt without a target only where neither run says it twice, and says 20
-- different ones at least, as letters of options are not. Of agents the whole transcript is equal.
-- grain: one row per condition, later run and metric
-- columns:
--   run_id: id of the first run
--   other_id: id of the later run
--   n_equal: texts of a prompt and variant that both have
--   n_differ: of these with other scores
--   n_up: of these where the first run has the higher score
with answer as (
    select
        generation.run_id, run.condition_key, score.metric_id, generation.prompt_id, generation.variant_id,
        generation.response_hash, transcript.messages_hash, min(transcript.run_id) as talked, avg(score.value) as value,
        max(case when prompt.target is null and length(trim(content.text)) < 20 then 1 else 0 end) as is_short
    from generation
    join run on run.id = generation.run_id
    join score
        on score.run_id = generation.run_id and score.prompt_id = generation.prompt_id
        and score.variant_id = generation.variant_id and score.draw = generation.draw
    join content on content.sha256 = generation.response_hash
    join prompt on prompt.id = generation.prompt_id
    left join transcript
        on transcript.run_id = generation.run_id and transcript.prompt_id = generation.prompt_id
        and transcript.variant_id = generation.variant_id and transcript.draw = generation.draw
    where generation.run_id in (:run_ids) and score.run_id in (:run_ids) and score.metric_id in (:metric_ids)
        and abs(score.value) < 1e300
        and length(trim(content.text)) > 0
        and not exists (
            select 1 from statement
            where statement.about = 'prompt' and statement.subject_id = prompt.id
                and cast(statement.said as varchar) like '%"target"%'
        )
    group by
        generation.run_id, run.condition_key, score.metric_id, generation.prompt_id, generation.variant_id,
        generation.response_hash, transcript.messages_hash
),

-- how often a run says a text, and how many different ones
said as (
    select run_id, metric_id, response_hash, count(*) as n, count(*) over (partition by run_id, metric_id) as n_texts
    from answer
    group by run_id, metric_id, response_hash
),

telling as (
    select answer.*
    from answer
    join said
        on said.run_id = answer.run_id and said.metric_id = answer.metric_id
        and said.response_hash = answer.response_hash
    where answer.is_short = 0 or (said.n = 1 and said.n_texts >= 20)
),

earliest as (
    select condition_key, min(run_id) as run_id
    from telling
    group by condition_key
)

select
    earliest.run_id, other.run_id as other_id, other.metric_id, count(*) as n_equal,
    sum(case when abs(answer.value - other.value) > 1e-9 then 1 else 0 end) as n_differ,
    sum(case when answer.value - other.value > 1e-9 then 1 else 0 end) as n_up
from earliest
join telling answer on answer.run_id = earliest.run_id
join telling other
    on other.condition_key = answer.condition_key and other.run_id > answer.run_id
    and other.metric_id = answer.metric_id and other.prompt_id = answer.prompt_id
    and other.variant_id = answer.variant_id and other.response_hash = answer.response_hash
where (answer.talked is null and other.talked is null) or other.messages_hash = answer.messages_hash
group by earliest.run_id, other.run_id, other.metric_id
order by earliest.run_id, other.run_id, other.metric_id
