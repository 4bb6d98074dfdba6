-- Texts that are stored twice under one hash.
-- grain: one row, if there are any
-- columns:
--   n: rows beyond the first of each hash
with repeated as (
  select count(*) - 1 as surplus
  from content
  group by sha256
  having count(*) > 1
)
select cast(sum(surplus) as bigint) as n
from repeated
having count(*) > 0
