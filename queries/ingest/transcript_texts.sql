-- The messages of transcripts as texts that the store keeps, with their hashes.
-- grain: one row per transcript with messages
select t.messages_hash as sha256, s.transcript.messages as text
from stage_transcript as t
join stage_sample as s on s.rowid = t.r
where t.messages_hash is not null
