-- Between which values the scores of runs lie, or figures that are published of runs without
-- scores, of metrics that are not known to lie from 0 to 1: of new runs (from :first_run on), and
-- of at most :most_before earlier ones, the latest.
-- grain: one row per run and metric
with scored as (
    select run.id as run_id, run.benchmark_id, run_metric.metric_id, run_metric.n_scored,
        row_number() over (
            partition by run.benchmark_id, run_metric.metric_id,
                case when run.id < :first_run then 1 else 0 end
            order by run.id desc nulls last
        ) as newest
    from run
    join run_metric on run_metric.run_id = run.id
    join benchmark_metric declared
        on declared.benchmark_id = run.benchmark_id and declared.metric_id = run_metric.metric_id
    where run.superseded_by is null and run.status <> 'invalidated'
        and coalesce(declared.kind, '') <> 'binary' and (declared.high is null or declared.high > 1)
        and run.benchmark_id in (select benchmark_id from run where id >= :first_run)
),
chosen as (
    select * from scored where run_id >= :first_run or newest <= :most_before
),
figure as (
    select chosen.run_id, chosen.metric_id, prompt_score.value
    from chosen
    join prompt_score
        on prompt_score.run_id = chosen.run_id and prompt_score.metric_id = chosen.metric_id
    where prompt_score.perturbation = ''
    union all
    select chosen.run_id, chosen.metric_id, published_score.value
    from chosen
    join published_score
        on published_score.run_id = chosen.run_id and published_score.metric_id = chosen.metric_id
    where chosen.n_scored = 0 and published_score.perturbation = ''
        and published_score.statistic = 'mean'
),
span as (
    select run_id, metric_id, min(value) as low, max(value) as high,
        sum(case when value > 0 then 1 else 0 end) as n_positive,
        sum(case when value > 0 and value <= 1 then 1 else 0 end) as n_small
    from figure
    where value is not null
    group by run_id, metric_id
)
select benchmark.name as benchmark,
    metric.name || case when metric.filter = '' then '' else ',' || metric.filter end as metric,
    cast(span.run_id as bigint) as run_id, span.low, span.high,
    cast(span.n_positive as bigint) as n_positive, cast(span.n_small as bigint) as n_small,
    source.id as source_id, source.path, source.format
from span
join run on run.id = span.run_id
join benchmark on benchmark.id = run.benchmark_id
join metric on metric.id = span.metric_id
join source on source.id = (
    select min(source_id) from run_source where run_source.run_id = span.run_id
)
where metric.link = 'identity'
order by benchmark.name, metric.name, metric.filter, span.run_id
