-- Means that sources publish of current runs, from :first on, as they are stored; of whole suites
-- the figures of the invocations of these.
-- grain: one row per source, run or invocation, metric, statistic and split
with wanted as (
    select run_id, model, run_group_id from run_current where run_id >= :first
),
of_group as (
    select wanted.run_group_id, min(wanted.model) as only_model
    from wanted
    group by wanted.run_group_id
    having count(distinct wanted.model) = 1
)
select
    figure.source_id, source.format, figure.run_id, figure.run_group_id,
    coalesce(wanted.model, of_group.only_model) as model,
    coalesce(named.name, benchmark.name) as benchmark, figure.split,
    figure.metric_id, metric.name as metric, metric.filter as metric_filter, figure.statistic,
    figure.value, figure.standard_error, figure.n
from published_figure figure
join source on source.id = figure.source_id
join benchmark on benchmark.id = figure.benchmark_id
left join benchmark named on named.id = benchmark.canonical_id
join metric on metric.id = figure.metric_id
left join wanted on wanted.run_id = figure.run_id
left join of_group on figure.run_id is null and of_group.run_group_id = figure.run_group_id
where figure.perturbation = '' and figure.value is not null
    and figure.statistic in ('mean', 'pass@1', 'aggregate')
    and coalesce(wanted.model, of_group.only_model) is not null
order by figure.source_id, figure.run_group_id, figure.run_id, benchmark, metric, metric_filter,
    figure.statistic, figure.split
