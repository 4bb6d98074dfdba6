-- What happened on the way to responses; the messages themselves are in stage_text.
-- grain: one row per staged row that says so
select rowid as r, run, transcript.uuid, transcript.place, transcript.n_messages,
    transcript.n_turns, transcript.n_events, transcript.limit_hit, transcript.cached_tokens,
    transcript.cache_write_tokens, transcript.reasoning_tokens, transcript.tools,
    unhex(sha256(transcript.messages)) as messages_hash
from stage_sample
where transcript is not null
