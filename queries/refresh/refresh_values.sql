-- Values that a refresh wrote.
-- grain: one row per value
-- placeholder: refresh number -- id of the refresh
select metric_value.subject_kind, metric_value.subject, metric_value.benchmark,
    metric_value.metric, metric_value.statistic, metric_value.method, metric_value.estimate,
    metric_value.standard_error, metric_value.low, metric_value.high, metric_value.n,
    metric_value.n_clusters, metric_value.input_fingerprint,
    cast(metric_value.parameters as varchar) as parameters
from metric_value
where metric_value.refresh_id = {refresh:d}
order by metric_value.benchmark, metric_value.statistic, metric_value.subject
