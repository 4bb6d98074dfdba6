-- Sources whose counts differ from the runs and rejections that are stored for them.
-- Samples and scores can be told apart only where every run of the source was new.
-- grain: one row per source and counter that is wrong
-- columns:
--   source_id: id of the source
--   counter: columns of source
--   declared: what the ledger says
--   found: what is stored
--   n: difference
with linked as (
  select
    run_source.source_id,
    count(*) as n_links,
    sum(run.n_found) as n_samples,
    sum(run.n_scores) as n_scores
  from run_source
  join run on run.id = run_source.run_id
  group by run_source.source_id
),
voted as (
  select source_id, count(*) as n_rows
  from preference
  group by source_id
),
rejected as (
  select source_id, count(*) as n_rows
  from rejection
  group by source_id
),
held as (
  select
    source.id as source_id,
    'n_runs + n_seen_again' as counter,
    case when source.state = 'loaded'
      then coalesce(source.n_runs, 0) + coalesce(source.n_seen_again, 0) else 0 end as declared,
    coalesce(linked.n_links, 0) as found
  from source
  left join linked on linked.source_id = source.id
  union all
  select
    source.id as source_id,
    'n_samples' as counter,
    source.n_samples as declared,
    coalesce(linked.n_samples, 0) as found
  from source
  left join linked on linked.source_id = source.id
  where source.state = 'loaded' and source.n_seen_again = 0
  union all
  select
    source.id as source_id,
    'n_scores' as counter,
    source.n_scores as declared,
    coalesce(linked.n_scores, 0) as found
  from source
  left join linked on linked.source_id = source.id
  where source.state = 'loaded' and source.n_seen_again = 0
  union all
  select
    source.id as source_id,
    'n_rejected' as counter,
    coalesce(source.n_rejected, 0) as declared,
    coalesce(rejected.n_rows, 0) as found
  from source
  left join rejected on rejected.source_id = source.id
  union all
  select
    source.id as source_id,
    'n_votes' as counter,
    coalesce(source.n_votes, 0) as declared,
    coalesce(voted.n_rows, 0) as found
  from source
  left join voted on voted.source_id = source.id
)
select
  source_id,
  counter,
  declared,
  cast(found as bigint) as found,
  cast(abs(coalesce(declared, 0) - found) as bigint) as n
from held
where coalesce(declared, -1) <> found
order by source_id nulls last, counter nulls last
