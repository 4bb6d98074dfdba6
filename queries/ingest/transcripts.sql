-- The transcripts of runs to store, with all their ids.
-- grain: one row per generation with a transcript
select k.run_id, g.prompt_id, g.variant_id, g.draw, t.uuid, t.place, t.n_messages,
    t.n_turns,
    cast(case when len(t.tools) = 0 then 0
        else list_sum([tool.n_calls for tool in t.tools]) end as integer) as n_tool_calls,
    cast(case when len(t.tools) = 0 then 0
        else list_sum([tool.n_errors for tool in t.tools]) end as integer) as n_tool_errors,
    t.n_events, t.limit_hit, t.cached_tokens, t.cache_write_tokens,
    t.reasoning_tokens, t.messages_hash
from stage_transcript as t
join stage_generation as g on g.r = t.r
join transcript_run as k on k.run = t.run
order by k.run_id, g.prompt_id, g.variant_id, g.draw
