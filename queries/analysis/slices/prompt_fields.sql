-- What is known of prompts by which they can be sliced.
-- grain: one row per prompt
-- placeholder: condition condition -- on prompt.id or prompt.benchmark_id
select prompt.id, prompt.split, prompt.metadata
from prompt
where {condition}
order by prompt.id
