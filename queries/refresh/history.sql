-- All values that refreshes wrote for a benchmark, the last of each first.
-- grain: one row per value and refresh that changed it
select past.refreshed_at, past.refresh_id, past.subject_kind, past.subject, past.benchmark,
    past.metric, past.statistic, past.method, past.method_version, past.estimate,
    past.standard_error, past.low, past.high, past.n, past.n_clusters, past.previous_estimate,
    past.change, past.age, past.reason, past.input_fingerprint,
    cast(metric_value.parameters as varchar) as parameters
from metric_history past
join metric_value on metric_value.refresh_id = past.refresh_id
    and metric_value.subject_kind = past.subject_kind and metric_value.subject = past.subject
    and metric_value.benchmark = past.benchmark and metric_value.metric = past.metric
    and metric_value.statistic = past.statistic
where past.benchmark = :benchmark
order by past.statistic, past.subject, past.metric, past.refresh_id desc nulls last
