-- Generations with all their ids; texts are in stage_text.
-- grain: one row per staged row that holds a generation
create or replace temp table stage_generation as
select f.r, f.run, f.prompt_id, f.variant_id, f.draw, f.place,
    s.prompt_hash, s.response_hash, s.extracted_answer, s.finish_reason, s.input_tokens,
    s.output_tokens,
    s.latency, s.cost, s.error, s.explanation
from stage_sample as s
join stage_fact as f on f.r = s.rowid
where coalesce(s.prompt_hash, s.response_hash) is not null
    or coalesce(s.extracted_answer, s.finish_reason, s.error, s.explanation) is not null
    or coalesce(s.input_tokens, s.output_tokens) is not null
    or coalesce(s.latency, s.cost) is not null
