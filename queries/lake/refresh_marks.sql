-- What is stored of each finished refresh: from then on its figures are only ever removed. Those of
-- one that is under way come and go, and no view shows them.
-- grain: one row per finished refresh
select refresh.id as unit, refresh.started_at, refresh.finished_at, coalesce(held.n, 0) as n
from refresh
left join (
    select refresh_id, count(*) as n
    from metric_value
    group by refresh_id
) held on held.refresh_id = refresh.id
where refresh.finished_at is not null
order by refresh.id
