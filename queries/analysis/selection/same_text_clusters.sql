-- Clusters of prompts with the same normalised text; their ids lie above those of stored
-- clusters, and are that of the first of these benchmarks' prompts.
-- grain: one row per prompt that has a text
select benchmark_id, id as prompt_id,
    1152921504606846976 + min(id) over (partition by text_hash) as cluster_id
from prompt
where text_hash is not null and benchmark_id in (:benchmark_ids)
