-- Embedding models and of how many prompts each has a vector of one part.
-- grain: one row per embedder
-- placeholder: part condition -- on part
select embedder.id, embedder.name, embedder.revision, embedder.dimension,
    coalesce(found.n, 0) as n_prompts
from embedder
left join (
    select held.embedder_id, count(held.text_hash) as n from prompt_embedding held where {part}
    group by held.embedder_id
) found on found.embedder_id = embedder.id
order by embedder.name, embedder.revision
