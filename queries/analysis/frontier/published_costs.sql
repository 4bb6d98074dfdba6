-- What dumps say of runs as wholes: their cost in all, or a published cost of a task.
-- grain: one row per run of which either is known
select run_id, max(stated_cost) as stated_cost, max(task_cost) as task_cost
from (
    select run_id, stated_cost, cast(null as double precision) as task_cost
    from run_cost
    where stated_cost is not null and run_id in (:run_ids)
    union all
    select published_score.run_id, cast(null as double precision) as stated_cost,
        published_score.value as task_cost
    from published_score
    join metric on metric.id = published_score.metric_id
    where metric.name = 'cost' and published_score.statistic = 'mean'
        and published_score.run_id in (:run_ids)
) said
group by run_id
