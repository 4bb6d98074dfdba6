-- Sources with what their ingest made of them.
-- grain: one row per source
select log.source_id, log.path, log.format, log.state, log.bytes, log.n_runs, log.n_seen_again,
    log.n_superseded, log.n_samples, log.n_scores, log.n_votes, log.n_rejected, log.n_current,
    log.loaded_at, log.seconds, source.notes
from ingest_log as log
join source on source.id = log.source_id
order by log.source_id
