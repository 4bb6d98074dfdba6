-- Mean headline score of every run, as a leaderboard has it where the model has one whole run on
-- the benchmark: read at once, before any leaderboard is there.
-- grain: one row per current run; one without a figure where no mean gives it
with scored as (
    select run_id, metric_id, avg(value) as estimate, count(*) as n_prompts,
        min(n_draws) as least_draws, max(n_draws) as most_draws
    from prompt_score
    where perturbation = '' and value is not null
    group by run_id, metric_id
), headline as (
    select scored.run_id, max(scored.estimate) as estimate, max(scored.n_prompts) as n_prompts,
        count(*) as n_metrics, max(metric.name) as metric, max(metric.filter) as metric_filter,
        max(case when headline_metric.higher_is_better then 1 else 0 end) as higher,
        min(case when headline_metric.higher_is_better then 1 else 0 end) as also_higher,
        count(headline_metric.higher_is_better) as n_known,
        min(case when benchmark_metric.low = 0 and benchmark_metric.high = 1
            or benchmark_metric.low is null and benchmark_metric.high is null
                and benchmark_metric.kind = 'binary' then 1 else 0 end) as is_share,
        max(case when metric.link = 'identity' and scored.least_draws = scored.most_draws then 0
            else 1 end) as is_other
    from scored
    join run on run.id = scored.run_id
    join headline_metric on headline_metric.benchmark_id = run.benchmark_id
        and headline_metric.metric_id = scored.metric_id and headline_metric.is_default
    join metric on metric.id = scored.metric_id
    join benchmark_metric on benchmark_metric.benchmark_id = run.benchmark_id
        and benchmark_metric.metric_id = scored.metric_id
    group by scored.run_id
), tagged as (
    select id, cast(tags as varchar) as tags from run
)
select shown.run_id, shown.model, shown.family, shown.benchmark, shown.benchmark_id,
    shown.harness, shown.started_at, shown.status, shown.n_scores, shown.n_found,
    shown.n_benchmark, tagged.tags, headline.metric, headline.metric_filter,
    case when headline.n_known = headline.n_metrics and headline.higher = headline.also_higher
        then headline.higher end as higher,
    case when headline.n_metrics = 1 and headline.is_other = 0 then headline.estimate end
        as estimate,
    headline.is_share
from run_current shown
join tagged on tagged.id = shown.run_id
left join headline on headline.run_id = shown.run_id
order by shown.run_id
