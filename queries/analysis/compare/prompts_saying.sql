-- Prompts of some benchmarks whose question holds a text, whose document holds a value, and that
-- stand in a cluster of a label that was not made of scores; an empty text is no condition.
-- grain: one row per prompt
-- placeholder: column column -- prompt.metadata, or null
select coalesce(prompt_link.canonical_prompt_id, prompt.id) as id, {column} as metadata
from prompt
left join prompt_link on prompt_link.prompt_id = prompt.id
where prompt.benchmark_id in (:benchmark_ids)
    and (:text = '' or position(lower(:text) in lower(prompt.text)) > 0)
    and (:value = '' or position(:value in cast(prompt.metadata as varchar)) > 0)
    and (
        :cluster = '' or prompt.id in (
            select prompt_cluster.prompt_id
            from cluster
            join clustering on clustering.id = cluster.clustering_id
            join prompt_cluster on prompt_cluster.cluster_id = cluster.id
            where cluster.label = :cluster and clustering.kind <> 'performance'
        )
    )
order by coalesce(prompt_link.canonical_prompt_id, prompt.id) nulls last
