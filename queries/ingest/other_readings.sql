-- Loaded sources of some bytes, but for those of some ids.
-- grain: one row per source
select id, path, sha256, coalesce(n_runs, 0) as n_runs, coalesce(n_scores, 0) as n_scores,
    cast(settings as varchar) as settings
from source
where sha256 in (:hashes) and id not in (:ids) and state = 'loaded'
order by id
