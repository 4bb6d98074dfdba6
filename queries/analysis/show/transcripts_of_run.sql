-- What happened on the way to the responses of a run.
-- grain: one row if it has transcripts, else none
select * from transcript_summary where run_id = :run
