-- Words that this program does not know in columns with a fixed vocabulary.
-- grain: one row per table, column and word
-- columns:
--   table_name: table of the rows
--   column_name: column with a fixed vocabulary
--   word: what stands there
--   n: rows
with foreign_word as (
  select 'score' as table_name, 'status' as column_name, status as word, count(*) as n
  from score
  where status not in ('scored', 'no_answer', 'error', 'limit', 'refused', 'not_scalar')
  group by status
  union all
  select 'score' as table_name, 'origin' as column_name, origin as word, count(*) as n
  from score
  where origin not in ('recorded', 'mapped', 'implied', 'scanned')
  group by origin
  union all
  select 'scan_value' as table_name, 'status' as column_name, status as word, count(*) as n
  from scan_value
  where status not in ('scored', 'no_answer', 'error', 'limit', 'refused', 'not_scalar')
  group by status
  union all
  select 'preference' as table_name, 'outcome' as column_name, outcome as word, count(*) as n
  from preference
  where outcome not in ('a', 'b', 'tie', 'both_bad')
  group by outcome
  union all
  select 'preference' as table_name, 'first' as column_name, first as word, count(*) as n
  from preference
  where first not in ('a', 'b', 'unknown')
  group by first
  union all
  select 'run' as table_name, 'status' as column_name, status as word, count(*) as n
  from run
  where status not in ('complete', 'truncated', 'failed', 'invalidated')
  group by status
  union all
  select 'source' as table_name, 'state' as column_name, state as word, count(*) as n
  from source
  where state not in ('loading', 'loaded', 'refused')
  group by state
  union all
  select 'metric' as table_name, 'link' as column_name, link as word, count(*) as n
  from metric
  where link not in ('identity', 'exp_neg', 'neg_over_ln2', 'none')
  group by link
  union all
  select 'benchmark_metric' as table_name, 'kind' as column_name, kind as word, count(*) as n
  from benchmark_metric
  where kind not in ('binary', 'bounded', 'continuous')
  group by kind
  union all
  select 'benchmark_metric' as table_name, 'default_by' as column_name, default_by as word,
    count(*) as n
  from benchmark_metric
  where default_by not in ('tool', 'mapping', 'scan')
  group by default_by
  union all
  select 'benchmark_metric' as table_name, 'direction_by' as column_name, direction_by as word,
    count(*) as n
  from benchmark_metric
  where direction_by <> 'person'
  group by direction_by
  union all
  select 'scorer' as table_name, 'kind' as column_name, kind as word, count(*) as n
  from scorer
  where kind not in ('match', 'model', 'execution', 'human')
  group by kind
  union all
  select 'prompt' as table_name, 'key_kind' as column_name, key_kind as word, count(*) as n
  from prompt
  where key_kind not in ('content', 'id', 'position')
  group by key_kind
  union all
  select 'clustering' as table_name, 'kind' as column_name, kind as word, count(*) as n
  from clustering
  where kind not in ('source', 'same_text', 'semantic', 'performance')
  group by kind
)
select table_name, column_name, word, n
from foreign_word
order by table_name nulls last, column_name nulls last, word nulls last
