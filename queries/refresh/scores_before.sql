-- Last scores before a refresh.
-- grain: one row per subject, benchmark and metric
-- placeholder: refresh number -- id of the refresh
select earlier.subject, earlier.benchmark, earlier.metric, earlier.method, earlier.estimate,
    earlier.standard_error, earlier.low, earlier.high, earlier.n, earlier.n_clusters,
    metric_value.input_fingerprint,
    cast(metric_value.parameters as varchar) as parameters
from (
    select metric_history.*, row_number() over (
        partition by subject, benchmark, metric order by refresh_id desc nulls last
    ) as place
    from metric_history
    where statistic = 'score' and refresh_id < {refresh:d}
) earlier
join metric_value on metric_value.refresh_id = earlier.refresh_id
    and metric_value.subject = earlier.subject and metric_value.benchmark = earlier.benchmark
    and metric_value.metric = earlier.metric and metric_value.statistic = 'score'
where earlier.place = 1 and earlier.method <> 'gone'
