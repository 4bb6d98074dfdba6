-- Values of a refresh made of the same input as the last one before it that was not gone.
-- grain: one row per value
-- placeholder: refresh number -- id of the refresh
select earlier.subject_kind, earlier.subject, earlier.benchmark, earlier.metric,
    earlier.statistic, earlier.input_fingerprint
from (
    select metric_history.*, row_number() over (
        partition by subject_kind, subject, benchmark, metric, statistic
        order by refresh_id desc nulls last
    ) as place
    from metric_history
    where method <> 'gone' and refresh_id < {refresh:d}
) earlier
join metric_value on metric_value.refresh_id = {refresh:d}
    and metric_value.input_fingerprint = earlier.input_fingerprint
    and metric_value.subject_kind = earlier.subject_kind
    and metric_value.subject = earlier.subject and metric_value.benchmark = earlier.benchmark
    and metric_value.metric = earlier.metric and metric_value.statistic = earlier.statistic
where earlier.place = 1
