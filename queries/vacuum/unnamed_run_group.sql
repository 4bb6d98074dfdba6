-- Removes the groups of runs that have none, and that no source names of a run which another one
-- has given.
-- grain: one row per group
delete from run_group
where not exists (select 1 from run where run.run_group_id = run_group.id)
  and not exists (
      select 1 from published_score where published_score.run_group_id = run_group.id
  )
  and not exists (
      select 1 from statement
      where statement.about = 'run'
        and cast((statement.said ->> 'run_group_id') as bigint) = run_group.id
  )
