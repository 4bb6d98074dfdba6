-- Words that this program does not know in columns with a fixed vocabulary.
-- grain: one row per table, column and word
-- columns:
--   table_name: table of the rows
--   column_name: column with a fixed vocabulary
--   word: what stands there
--   n: rows
with foreign_word (table_name, column_name, word, n) as (
  select 'score', 'status', status, count(*) from score
  where status not in ('scored', 'no_answer', 'error', 'limit', 'refused', 'not_scalar')
  group by status
  union all
  select 'score', 'origin', origin, count(*) from score
  where origin not in ('recorded', 'mapped', 'implied', 'scanned') group by origin
  union all
  select 'scan_value', 'status', status, count(*) from scan_value
  where status not in ('scored', 'no_answer', 'error', 'limit', 'refused', 'not_scalar')
  group by status
  union all
  select 'preference', 'outcome', outcome, count(*) from preference
  where outcome not in ('a', 'b', 'tie', 'both_bad') group by outcome
  union all
  select 'preference', 'first', first, count(*) from preference
  where first not in ('a', 'b', 'unknown') group by first
  union all
  select 'run', 'status', status, count(*) from run
  where status not in ('complete', 'truncated', 'failed', 'invalidated') group by status
  union all
  select 'source', 'state', state, count(*) from source
  where state not in ('loading', 'loaded', 'refused') group by state
  union all
  select 'metric', 'link', link, count(*) from metric
  where link not in ('identity', 'exp_neg', 'neg_over_ln2', 'none') group by link
  union all
  select 'benchmark_metric', 'kind', kind, count(*) from benchmark_metric
  where kind not in ('binary', 'bounded', 'continuous') group by kind
  union all
  select 'benchmark_metric', 'default_by', default_by, count(*) from benchmark_metric
  where default_by not in ('tool', 'mapping', 'scan') group by default_by
  union all
  select 'benchmark_metric', 'direction_by', direction_by, count(*) from benchmark_metric
  where direction_by <> 'person' group by direction_by
  union all
  select 'scorer', 'kind', kind, count(*) from scorer
  where kind not in ('match', 'model', 'execution', 'human') group by kind
  union all
  select 'prompt', 'key_kind', key_kind, count(*) from prompt
  where key_kind not in ('content', 'id', 'position') group by key_kind
  union all
  select 'clustering', 'kind', kind, count(*) from clustering
  where kind not in ('source', 'same_text', 'semantic', 'performance') group by kind
)
select table_name, column_name, word, n
from foreign_word
order by table_name nulls last, column_name nulls last, word nulls last
