-- What guessing scores by a metric, where a dump or mapping says so.
-- grain: one row per benchmark and metric
-- placeholder: here condition -- on benchmark_id
select benchmark_id, metric_id, chance_level
from benchmark_metric
where chance_level is not null and {here}
order by benchmark_id, metric_id
