-- The metrics of every benchmark, and which of them is its headline metric: what a person chose
-- (warehouse fix metric NAME --metric M), else what a mapping says, else the one that most current
-- runs have figures of (ties: more runs with scored prompts, a mean, then by name).
-- A metric that only scans gave is none unless a person chose it; labels that people gave, as to
-- correct a judge by them, come after what stood there before.
-- Where a tool says which metric of a run is the headline, the others of that run do not stand for
-- it. Benchmarks under one name have one headline; the order in which sources came plays no part.
-- grain: one row per benchmark and metric
-- columns:
--   benchmark_id: id of the benchmark
--   metric_id: id of the metric
--   is_default: the metric is the benchmark's headline metric
--   higher_is_better: direction; of a metric of which nobody says it that of the others of its name
--     and filter, by other scorers, where they agree; null if unknown
--   n_runs: current runs that have figures of a metric of this name and filter
with described as (
  select
    benchmark_metric.benchmark_id,
    benchmark_metric.metric_id,
    benchmark_metric.higher_is_better,
    coalesce(benchmark.canonical_id, benchmark.id) as shown_id,
    metric.name,
    metric.filter,
    metric.link <> 'none' as has_mean,
    scorer.kind = 'human' as is_human,
    case benchmark_metric.default_by when 'mapping' then 2 when 'tool' then 1 when 'scan' then -1
      else 0 end as word
  from benchmark_metric
  join benchmark on benchmark.id = benchmark_metric.benchmark_id
  join metric on metric.id = benchmark_metric.metric_id
  join scorer on scorer.id = metric.scorer_id
),
named as (
  select
    shown_id,
    name,
    filter,
    max(word) as best_word,
    bool_or(has_mean) as has_mean,
    bool_and(is_human) as is_human,
    case when bool_and(higher_is_better) = bool_or(higher_is_better)
      then bool_and(higher_is_better) end as direction
  from described
  group by shown_id, name, filter
),
held as (
  select
    described.shown_id,
    described.name,
    described.filter,
    run.id as run_id,
    max(run_metric.n_scored) as n_scored
  from run_metric
  join run on run.id = run_metric.run_id
  join described
    on described.benchmark_id = run.benchmark_id
    and described.metric_id = run_metric.metric_id
  where run.status <> 'invalidated' and run.superseded_by is null
  group by described.shown_id, described.name, described.filter, run.id
),
led as (
  select
    held.shown_id,
    held.name,
    held.filter,
    held.n_scored,
    max(named.best_word) over (partition by held.run_id) as word_of_run
  from held
  join named
    on named.shown_id = held.shown_id
    and named.name = held.name
    and named.filter = held.filter
),
counted as (
  select
    shown_id,
    name,
    filter,
    count(*) as n_runs,
    sum(case when n_scored > 0 then 1 else 0 end) as n_runs_scored,
    bool_or(word_of_run = 0) as stands_for_a_run
  from led
  group by shown_id, name, filter
),
judged as (
  select
    named.*,
    case
      when shown.headline_metric
        = case when named.filter = '' then named.name
          else named.name || ',' || named.filter end
        then 0
      else 1
    end as not_chosen
  from named
  join benchmark shown on shown.id = named.shown_id
),
ranked as (
  select
    named.shown_id,
    named.name,
    named.filter,
    named.direction,
    named.best_word >= 0 or named.not_chosen = 0 as may_lead,
    coalesce(counted.n_runs, 0) as n_runs,
    row_number() over (
      partition by named.shown_id
      order by
        case when named.best_word >= 0 or named.not_chosen = 0 then 0 else 1 end nulls last,
        case when counted.n_runs > 0 then 0 else 1 end nulls last,
        named.not_chosen nulls last,
        case when named.best_word = 2 then 0 else 1 end nulls last,
        case when named.best_word = 1 or counted.stands_for_a_run then 0 else 1 end nulls last,
        case when named.is_human then 1 else 0 end nulls last,
        counted.n_runs desc nulls last,
        counted.n_runs_scored desc nulls last,
        case when named.has_mean then 0 else 1 end nulls last,
        named.name nulls last,
        named.filter nulls last
    ) as place
  from judged named
  left join counted
    on counted.shown_id = named.shown_id
    and counted.name = named.name
    and counted.filter = named.filter
)
select
  described.benchmark_id,
  described.metric_id,
  ranked.place = 1 and ranked.may_lead as is_default,
  coalesce(described.higher_is_better, ranked.direction) as higher_is_better,
  ranked.n_runs
from described
join ranked
  on ranked.shown_id = described.shown_id
  and ranked.name = described.name
  and ranked.filter = described.filter
