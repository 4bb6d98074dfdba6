-- What the scores of scanners say of their metrics on each benchmark.
-- grain: one row per benchmark and metric
select run.benchmark_id, score.metric_id, max(metric.unit) as unit, min(score.value) as low,
    max(score.value) as high,
    coalesce(bool_and(score.value in (0, 1)) filter (where score.value is not null), false)
        as is_binary,
    (
        select bool_and(said.higher_is_better) from scan_value said
        where said.metric_id = score.metric_id
    ) as higher_is_better
from score
join scanned_pair pair on pair.run_id = score.run_id and pair.metric_id = score.metric_id
join run on run.id = score.run_id
join metric on metric.id = score.metric_id
group by run.benchmark_id, score.metric_id
order by run.benchmark_id, score.metric_id
