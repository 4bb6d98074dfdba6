-- Sources in the order of their ingest; a refused one has no time: it is read again and again.
-- grain: one row per source
select source_id, path, format, state, n_runs, n_samples, n_scores, n_rejected,
    case when state = 'loaded' then claimed_at end as claimed_at,
    case when state = 'loaded' then loaded_at end as loaded_at, seconds
from ingest_log
order by source_id nulls last
