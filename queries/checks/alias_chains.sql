-- Aliases of aliases (or of themselves): views follow one step, and would show the wrong name.
-- grain: one row per table with such aliases
-- columns:
--   table_name: model, benchmark or prompt_link
--   n: aliases that point to an alias
with chained as (
  select 'model' as table_name, count(*) as n
  from model alias
  join model target on target.id = alias.canonical_id
  where target.canonical_id is not null
  union all
  select 'benchmark' as table_name, count(*) as n
  from benchmark alias
  join benchmark target on target.id = alias.canonical_id
  where target.canonical_id is not null
  union all
  select 'prompt_link' as table_name, count(*) as n
  from prompt_link alias
  join prompt_link target on target.prompt_id = alias.canonical_prompt_id
)
select table_name, n
from chained
where n > 0
order by table_name nulls last
