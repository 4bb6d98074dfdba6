-- A prompt, where it is of the benchmark and split of a run.
-- grain: one row: the prompt, or none
select prompt.id
from prompt
join run on run.benchmark_id = prompt.benchmark_id and run.split = prompt.split
where run.id = :run and prompt.id = :prompt
