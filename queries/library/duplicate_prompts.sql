-- Prompts whose normalised text is the same, within a benchmark or between benchmarks.
-- Prompts with one text are not independent: `--cluster same_text` takes them as one cluster.
-- grain: one row per prompt that shares its text
-- parameter: benchmark text = '' -- name of a benchmark that must hold one of them; empty for all
-- parameter: limit integer = 200 -- rows at most
-- columns:
--   text_number: number of the text, from 1
--   n_same: prompts with this text
--   n_benchmarks: benchmarks with this text
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   prompt_id: id of the prompt
--   prompt_key: key of the prompt
--   tool_prompt_id: the tool's own id of the prompt
--   prompt_text: the question
--   target: the expected answer
with shared as (
  select
    prompt.text_hash,
    count(*) as n_same,
    count(distinct prompt.benchmark_id) as n_benchmarks,
    min(prompt.id) as first_id,
    bool_or(coalesce(named.name, benchmark.name) = :benchmark) as is_wanted
  from prompt
  join benchmark on benchmark.id = prompt.benchmark_id
  left join benchmark named on named.id = benchmark.canonical_id
  where prompt.text_hash is not null
  group by prompt.text_hash
  having count(*) > 1
)
select
  dense_rank() over (order by shared.first_id nulls last) as text_number,
  shared.n_same,
  shared.n_benchmarks,
  coalesce(named.name, benchmark.name) as benchmark,
  prompt.split,
  prompt.id as prompt_id,
  prompt.key as prompt_key,
  prompt.tool_id as tool_prompt_id,
  prompt.text as prompt_text,
  prompt.target
from shared
join prompt on prompt.text_hash = shared.text_hash
join benchmark on benchmark.id = prompt.benchmark_id
left join benchmark named on named.id = benchmark.canonical_id
where :benchmark = '' or shared.is_wanted
order by shared.first_id nulls last, prompt.id nulls last
limit :limit
