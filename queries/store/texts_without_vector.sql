-- Texts that an embedder has no vector of.
-- grain: one row per text
-- placeholder: embedder number -- id of the embedder
-- placeholder: benchmarks condition -- on prompt.benchmark_id
select prompt.text_hash, min(prompt.id) as prompt_id, count(*) as n_prompts
from prompt
left join prompt_embedding held on held.prompt_id = prompt.id
    and held.embedder_id = {embedder} and held.text_hash = prompt.text_hash
where prompt.text_hash is not null and held.prompt_id is null and {benchmarks}
group by prompt.text_hash
order by min(prompt.id)
