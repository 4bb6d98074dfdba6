-- Vectors of a part of prompts; those of the question where it has not changed since.
-- grain: one row per prompt
-- placeholder: embedder number -- id of the embedder
-- placeholder: part condition -- on part
-- placeholder: benchmarks condition -- on prompt.benchmark_id
select held.prompt_id, held.vector
from prompt_embedding held
join prompt on prompt.id = held.prompt_id
where held.embedder_id = {embedder} and {part}
    and (held.part is not null or prompt.text_hash = held.text_hash) and {benchmarks}
order by held.prompt_id
