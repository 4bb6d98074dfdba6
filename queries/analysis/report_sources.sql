-- Sources in the order of their ingest.
-- grain: one row per source
select source_id, path, format, state, n_runs, n_samples, n_scores, n_rejected, claimed_at,
    loaded_at, seconds
from ingest_log
order by source_id nulls last
