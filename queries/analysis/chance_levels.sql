-- What guessing scores by a metric, where a dump or mapping says so.
-- grain: one row per benchmark and metric
select benchmark_id, metric_id, chance_level
from benchmark_metric
where chance_level is not null and benchmark_id in (:benchmark_ids)
order by benchmark_id, metric_id
