-- Scores and ranks that the newest refresh changed, for what a report says has changed.
-- grain: one row per figure; one without a figure where that refresh changed none
select latest.finished_at as refreshed_at, earlier.finished_at as previous_at, past.subject,
    past.benchmark, past.metric, past.statistic, past.method, past.estimate, past.standard_error,
    past.low, past.high, past.previous_estimate
from refresh latest
join (
    select max(case when place = 1 then id end) as last_id,
        max(case when place = 2 then id end) as previous_id
    from (
        select id, row_number() over (order by id desc nulls last) as place
        from refresh
        where finished_at is not null
    ) numbered
) newest on newest.last_id = latest.id
join refresh earlier on earlier.id = newest.previous_id
left join metric_history past on past.refresh_id = latest.id and past.statistic in ('score', 'rank')
    and past.subject_kind in ('condition', 'row')
order by past.benchmark nulls last, past.subject nulls last, past.metric nulls last,
    past.statistic nulls last
