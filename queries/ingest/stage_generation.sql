-- Generations with all their ids; texts are in stage_text, but for prompts that the store holds.
-- grain: one row per staged row that holds a generation
create or replace temp table stage_generation as
select f.r, f.run, f.prompt_id, f.variant_id, f.draw, f.place,
    coalesce(s.prompt_hash, k.sha256) as prompt_hash, s.response_hash, s.extracted_answer,
    s.finish_reason, s.input_tokens, s.output_tokens, s.latency, s.cost, s.error, s.explanation
from stage_sample as s
join stage_fact as f on f.r = s.rowid
left join scratch.main.known_text as k on k.sent_hash = s.sent_hash
where coalesce(s.prompt_hash, k.sha256, s.response_hash) is not null
    or coalesce(s.extracted_answer, s.finish_reason, s.error, s.explanation) is not null
    or coalesce(s.input_tokens, s.output_tokens) is not null
    or coalesce(s.latency, s.cost) is not null
