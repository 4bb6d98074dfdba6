-- Runs whose counts differ from the facts that are stored for them.
-- Scores of scanners, which come from other sources, do not count.
-- Prompts may be more than those with facts (a dump may name a prompt and say nothing of it).
-- grain: one row per run and counter that is wrong
-- columns:
--   run_id: id of the run
--   counter: column of run
--   declared: what the run says
--   found: what is stored
--   n: difference
with counted as (
  select run_id, 'n_scores' as counter, count(*) as found
  from score
  where origin <> 'scanned'
  group by run_id
  union all
  select run_id, 'n_generations' as counter, count(*) as found
  from generation
  group by run_id
  union all
  select run_id, 'n_choices' as counter, count(*) as found
  from choice
  group by run_id
  union all
  select run_id, 'n_found' as counter, count(*) as found
  from (
    select run_id, prompt_id from prompt_score
    union
    select run_id, prompt_id from generation
    union
    select run_id, prompt_id from choice
  ) seen
  group by run_id
),
said as (
  select id as run_id, 'n_scores' as counter, n_scores as declared from run
  union all
  select id as run_id, 'n_generations' as counter, n_generations as declared from run
  union all
  select id as run_id, 'n_choices' as counter, n_choices as declared from run
  union all
  select id as run_id, 'n_found' as counter, n_found as declared from run
),
held as (
  select said.run_id, said.counter, said.declared, coalesce(counted.found, 0) as found
  from said
  left join counted on counted.run_id = said.run_id and counted.counter = said.counter
)
select run_id, counter, declared, found, abs(declared - found) as n
from held
where declared < found or (declared > found and counter <> 'n_found')
order by run_id nulls last, counter nulls last
