-- New runs (from :first_run on) and, for each, another current run of the same weights by the same
-- tool on the same prompts under other settings: an earlier one if there is any, the last of them.
-- grain: one row per new run
-- columns:
--   run_id: id of the new run
--   other_id: id of the other run
select
    new_run.id as run_id, max(other.id) as other_id
from run as new_run
join run_group as new_group on new_group.id = new_run.run_group_id
join run as other
    on other.benchmark_id = new_run.benchmark_id
    and other.split = new_run.split
    and other.checkpoint_id = new_run.checkpoint_id
    and other.condition_key <> new_run.condition_key
    and other.id < new_run.id
join run_group as other_group
    on other_group.id = other.run_group_id
    and other_group.harness = new_group.harness
where new_run.id >= :first_run
    and new_run.status <> 'invalidated' and new_run.superseded_by is null
    and other.status <> 'invalidated' and other.superseded_by is null
    and not exists (
        select 1 from run as repeat
        where repeat.condition_key = new_run.condition_key and repeat.id < new_run.id
    )
group by new_run.id
order by new_run.id
limit 200
