-- Sources of a path that was read before with other content, whose runs now stand beside those
-- that it held then, as repeats.
-- grain: one row per new source, earlier source, and marks of two of their runs
select distinct new_source.id as newer, old_source.id as earlier,
    cast(new_run.marks as varchar) as own_marks, cast(old_run.marks as varchar) as earlier_marks
from run new_run
join run_source new_link on new_link.run_id = new_run.id
join source new_source on new_source.id = new_link.source_id
join source old_source
    on old_source.path = new_source.path
    and old_source.sha256 <> new_source.sha256
    and old_source.id < new_source.id
join run_source old_link on old_link.source_id = old_source.id
join run old_run
    on old_run.id = old_link.run_id
    and old_run.condition_key = new_run.condition_key
where new_run.id >= :first_run
  and old_run.id < :first_run
  and new_run.superseded_by is null and new_run.status <> 'invalidated'
  and old_run.superseded_by is null and old_run.status <> 'invalidated'
order by newer, earlier, own_marks, earlier_marks
