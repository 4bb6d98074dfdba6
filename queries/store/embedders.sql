-- Embedding models and how many prompts each has a vector of.
-- grain: one row per embedder
select embedder.id, embedder.name, embedder.revision, embedder.dimension,
    coalesce(held.n, 0) as n_prompts
from embedder
left join (select embedder_id, count(*) as n from prompt_embedding group by embedder_id) held
    on held.embedder_id = embedder.id
order by embedder.name, embedder.revision
