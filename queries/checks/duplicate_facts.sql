-- Facts that stand twice: the same prompt, variant, draw and metric (or option) of one run, the
-- same generation, metric and position of one scan, the same vote of one source.
-- grain: one row per table and run with duplicates
-- columns:
--   table_name: table of the facts
--   run_id: id of the run; null for scans and votes
--   n: rows beyond the first of each fact
with repeated (table_name, run_id, surplus) as (
  select 'score', run_id, count(*) - 1 from score
  group by run_id, prompt_id, variant_id, draw, metric_id having count(*) > 1
  union all
  select 'generation', run_id, count(*) - 1 from generation
  group by run_id, prompt_id, variant_id, draw having count(*) > 1
  union all
  select 'transcript', run_id, count(*) - 1 from transcript
  group by run_id, prompt_id, variant_id, draw having count(*) > 1
  union all
  select 'tool_call', run_id, count(*) - 1 from tool_call
  group by run_id, prompt_id, variant_id, draw, tool having count(*) > 1
  union all
  select 'scan_value', null, count(*) - 1 from scan_value
  group by source_id, uuid, metric_id, position having count(*) > 1
  union all
  select 'preference', null, count(*) - 1 from preference
  group by source_id, benchmark_id, scorer_id, voter, prompt_id, variant_id, checkpoint_a_id,
    checkpoint_b_id, run_a_id, run_b_id, first, draw having count(*) > 1
  union all
  select 'label_draw', null, count(*) - 1 from label_draw
  group by benchmark_id, metric_id, scorer_id, label_draw.run_id, prompt_id, variant_id, draw,
    checkpoint_a_id, checkpoint_b_id, wave having count(*) > 1
  union all
  select 'choice', run_id, count(*) - 1 from choice
  group by run_id, prompt_id, variant_id, draw, choice_index having count(*) > 1
  union all
  select 'prompt_score', run_id, count(*) - 1 from prompt_score
  group by run_id, prompt_id, metric_id, perturbation having count(*) > 1
  union all
  select 'draw_score', run_id, count(*) - 1 from draw_score
  group by run_id, metric_id, variant_id, draw having count(*) > 1
)
select table_name, run_id, cast(sum(surplus) as bigint) as n
from repeated
group by table_name, run_id
order by table_name nulls last, run_id nulls last
