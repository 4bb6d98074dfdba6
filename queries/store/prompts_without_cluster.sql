-- Prompts of a benchmark that a clustering does not hold yet.
-- grain: one row per prompt
select p.id, p.metadata
from prompt as p
where p.benchmark_id = :benchmark and not exists (
    select 1 from prompt_cluster as c
    where c.clustering_id = :clustering and c.prompt_id = p.id
)
