-- Figures that runs without samples publish.
-- grain: one row per figure
select published.run_id, own.name as own_benchmark, run.split as own_split,
    benchmark.name as benchmark, metric.name as metric, metric.filter, published.statistic,
    published.perturbation, published.split, published.value, published.standard_error,
    published.raw
from published_score published
join run on run.id = published.run_id
join benchmark own on own.id = run.benchmark_id
join benchmark on benchmark.id = published.benchmark_id
join metric on metric.id = published.metric_id
where published.run_id in (:run_ids)
