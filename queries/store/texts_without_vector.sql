-- Questions that an embedder has no vector of, or one with another template taken off.
-- grain: one row per text and template
-- placeholder: embedder number -- id of the embedder
-- placeholder: templates column -- the template that prompt.benchmark_id has now, empty for none
-- placeholder: benchmarks condition -- on prompt.benchmark_id
select prompt.text_hash, {templates} as template, min(prompt.id) as first_id, count(*) as n_prompts
from prompt
left join prompt_embedding held on held.prompt_id = prompt.id
    and held.embedder_id = {embedder} and held.text_hash = prompt.text_hash and held.part is null
    and coalesce(held.template, '') = {templates}
where prompt.text_hash is not null and held.prompt_id is null and {benchmarks}
group by prompt.text_hash, {templates}
order by min(prompt.id)
