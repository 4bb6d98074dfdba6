-- How many prompts of benchmarks have a question, and a vector of it.
-- grain: one row per benchmark
-- placeholder: embedder number -- id of the embedder
-- placeholder: fresh condition -- on held.template: that of the benchmark, or any
-- placeholder: benchmarks condition -- on prompt.benchmark_id
select prompt.benchmark_id, count(*) as n_prompts, count(prompt.text_hash) as n_texts,
    count(held.prompt_id) as n_embedded
from prompt
left join prompt_embedding held on held.prompt_id = prompt.id
    and held.embedder_id = {embedder} and held.text_hash = prompt.text_hash
    and held.part is null and {fresh}
where {benchmarks}
group by prompt.benchmark_id
