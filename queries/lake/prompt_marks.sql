-- What is stored of the prompts of each benchmark: later sources add prompts, fill in what earlier
-- ones lacked (a document by more fields, and so longer), and nothing else changes them.
-- grain: one row per benchmark that has prompts
select benchmark_id as unit, count(*) as n, max(id) as last, count(tool_id) as n_tool_ids,
    count(text) as n_texts, count(text_hash) as n_hashes, count(target) as n_targets,
    count(choices) as n_choices, count(metadata) as n_documents,
    cast(sum(length(cast(metadata as text))) as bigint) as length_of_documents
from prompt
group by benchmark_id
order by benchmark_id
