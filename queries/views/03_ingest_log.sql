-- What was ingested, when, and what became of it.
-- grain: one row per source (one file, or files that belong together)
-- columns:
--   source_id: id of the source
--   path: where it lay
--   format: importer that read it
--   importer_version: version of the importer
--   state: how far the load got
--   bytes: size of the files
--   n_runs: runs that this source brought
--   n_seen_again: runs that were there already
--   n_superseded: runs of this source that replaced a stored one, or were replaced by it
--   n_samples: prompt and draw pairs read
--   n_scores: scores written
--   n_votes: votes between two models written
--   n_rejected: rows that could not be taken
--   n_current: current runs that this source holds
--   n_published: figures that the source itself publishes
--   claimed_at: start of the load [UTC]
--   loaded_at: end of the load [UTC]
--   seconds: duration of the load
--   sha256: hash of the content, hexadecimal
with held as (
  select run_source.source_id, count(distinct run_source.run_id) as n_current
  from run_source
  join run on run.id = run_source.run_id
  where run.status <> 'invalidated' and run.superseded_by is null
  group by run_source.source_id
),
figures as (
  select source_id, count(*) as n_published
  from published_score
  group by source_id
)
select
  source.id as source_id,
  source.path,
  source.format,
  source.importer_version,
  source.state,
  source.bytes,
  source.n_runs,
  source.n_seen_again,
  source.n_superseded,
  source.n_samples,
  source.n_scores,
  coalesce(source.n_votes, 0) as n_votes,
  source.n_rejected,
  coalesce(held.n_current, 0) as n_current,
  coalesce(figures.n_published, 0) as n_published,
  source.claimed_at,
  source.loaded_at,
  source.seconds,
  source.sha256
from source
left join held on held.source_id = source.id
left join figures on figures.source_id = source.id
