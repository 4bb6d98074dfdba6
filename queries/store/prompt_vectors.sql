-- Vectors of prompts whose text has not changed since.
-- grain: one row per prompt
-- placeholder: embedder number -- id of the embedder
-- placeholder: benchmarks condition -- on prompt.benchmark_id
select held.prompt_id, held.vector
from prompt_embedding held
join prompt on prompt.id = held.prompt_id and prompt.text_hash = held.text_hash
where held.embedder_id = {embedder} and {benchmarks}
order by held.prompt_id
