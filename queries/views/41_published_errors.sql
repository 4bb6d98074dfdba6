-- Standard errors that sources publish, with the formula that gives them from the samples.
-- The clustered formulas are tried with every clustering that the benchmark has, the default one or
-- not. What is equal to 1e-9 comes first, then what is equal at the decimals that are published.
-- grain: one row per published standard error of a current run
-- columns:
--   source_id: id of the source that publishes it
--   run_id: id of the run
--   model: name of the run's model
--   benchmark: name of the benchmark
--   split: part of the benchmark
--   metric_id: id of the metric
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   statistic: mean, pass@k, pass^k …
--   perturbation: perturbation or prompt format; '' is the headline form
--   published: the standard error as published; 0 is 0
--   recomputed: the error by the formula that verdict names, else as if prompts were independent
--   difference: published - recomputed
--   clustering: the clustering behind a clustered formula; '' for the others
--   n_prompts: prompts with a score
--   verdict: naive (se_clt of score_summary), naive_n (the same with n for n - 1), clustered_cr0,
--     clustered_cr1 (se_cr0 and se_cr1), clustered_cr2 (as the leaderboard), clustered_miller
--     (se_clustered); truncated; not_recomputable (no samples, or not a mean of them); else
--     unexplained (a bootstrap, another formula, or wrong)
with wanted as (
  select
    p.source_id,
    p.run_id,
    p.metric_id,
    p.statistic,
    p.perturbation,
    p.standard_error as published,
    p.n as n_published
  from published_score p
  where p.run_id is not null and p.standard_error is not null
),
asked as (
  select distinct run_id, metric_id, perturbation
  from wanted
  where published > 0 and statistic in ('mean', 'pass@1')
),
unit_total as (
  select
    asked.run_id,
    asked.metric_id,
    asked.perturbation,
    clustering.name as clustering,
    count(*) as n,
    count(prompt_cluster.cluster_id) as n_members,
    sum(fact.value) as total,
    sum(fact.value * fact.value) as squares,
    sum(count(*)) over in_clustering as n_all,
    sum(sum(fact.value)) over in_clustering as total_all
  from asked
  join prompt_score fact
    on fact.run_id = asked.run_id
    and fact.metric_id = asked.metric_id
    and fact.perturbation = asked.perturbation
  join run on run.id = fact.run_id
  join metric on metric.id = fact.metric_id
  join clustering on clustering.benchmark_id = run.benchmark_id
  left join prompt_cluster
    on prompt_cluster.clustering_id = clustering.id
    and prompt_cluster.prompt_id = fact.prompt_id
  where fact.value is not null and fact.weight = 1 and metric.link = 'identity'
  group by
    asked.run_id, asked.metric_id, asked.perturbation, clustering.name,
    coalesce(prompt_cluster.cluster_id, -1 - fact.prompt_id)
  window in_clustering as (
    partition by asked.run_id, asked.metric_id, asked.perturbation, clustering.name
  )
),
clustered as (
  select
    run_id,
    metric_id,
    perturbation,
    clustering,
    count(*) as g,
    cast(sum(n) as bigint) as n,
    sum(squares) - sum(total) * sum(total) / sum(n) as all_squares,
    sum(
      (total - n * total_all / n_all) * (total - n * total_all / n_all)
    ) as robust_squares
  from unit_total
  group by run_id, metric_id, perturbation, clustering
  having sum(n_members) > 0 and count(*) > 1
),
formula as (
  select 'clustered_cr0' as name
  union all
  select 'clustered_cr1' as name
  union all
  select 'clustered_miller' as name
),
clustered_error as (
  select
    clustered.*,
    formula.name as formula,
    case formula.name
      when 'clustered_cr0' then sqrt(robust_squares) / n
      when 'clustered_cr1' then sqrt(robust_squares * g / (g - 1)) / n
      else sqrt(robust_squares + greatest(all_squares, 0) / nullif(n - 1, 0)) / n
    end as error
  from clustered
  cross join formula
),
candidate as (
  select
    wanted.*,
    s.n_prompts,
    s.se_clt as naive,
    sqrt(s.se_clt * s.se_clt * greatest(s.n_prompts - 1, 0) / nullif(s.n_prompts, 0)) as naive_n,
    case when s.n_clusters is not null then s.standard_error end as headline,
    'clustered_' || s.method as headline_formula,
    default_clustering.name as headline_clustering,
    clustered_error.error as nearest,
    clustered_error.formula as nearest_formula,
    clustered_error.clustering as nearest_clustering,
    row_number() over (
      partition by wanted.source_id, wanted.run_id, wanted.metric_id, wanted.statistic,
        wanted.perturbation, wanted.published
      order by
        abs(clustered_error.error - wanted.published) nulls last,
        clustered_error.formula nulls last, clustered_error.clustering nulls last
    ) as place
  from wanted
  left join score_by_perturbation s
    on s.run_id = wanted.run_id and s.metric_id = wanted.metric_id
    and s.perturbation = wanted.perturbation and wanted.statistic in ('mean', 'pass@1')
  left join run on run.id = wanted.run_id
  left join benchmark on benchmark.id = run.benchmark_id
  left join clustering default_clustering
    on default_clustering.id = benchmark.default_clustering_id
  left join clustered_error
    on clustered_error.run_id = wanted.run_id
    and clustered_error.metric_id = wanted.metric_id
    and clustered_error.perturbation = wanted.perturbation
),
tolerance as (
  select
    candidate.*,
    case
      when published >= 1 and abs(published * 10 - round(published * 10)) < 1e-7 then 0.05
      when published >= 1 and abs(published * 100 - round(published * 100)) < 1e-7 then 0.005
      when published >= 0.001 and abs(published * 1e3 - round(published * 1e3)) < 1e-7 then 0.0005
      when abs(published * 1e4 - round(published * 1e4)) < 1e-7 then 0.00005
      when abs(published * 1e5 - round(published * 1e5)) < 1e-6 then 0.000005
      when abs(published * 1e6 - round(published * 1e6)) < 1e-6 then 0.0000005
      else 0
    end + 1e-9 * greatest(1, published) as roughly
  from candidate
  where place = 1
),
explained as (
  select
    tolerance.*,
    r.model as run_model,
    r.benchmark as run_benchmark,
    r.split as run_split,
    case
      when naive is null then 'not_recomputable'
      when r.status = 'truncated' or tolerance.n_prompts < n_published then 'truncated'
      when abs(published - naive) <= 1e-9 then 'naive'
      when abs(published - naive_n) <= 1e-9 then 'naive_n'
      when abs(published - headline) <= 1e-9 then headline_formula
      when abs(published - nearest) <= 1e-9 then nearest_formula
      when abs(published - naive) <= roughly then 'naive'
      when abs(published - naive_n) <= roughly then 'naive_n'
      when abs(published - headline) <= roughly then headline_formula
      when abs(published - nearest) <= roughly then nearest_formula
      else 'unexplained'
    end as verdict
  from tolerance
  join run_current r on r.run_id = tolerance.run_id
),
answered as (
  select
    explained.*,
    case
      when verdict = 'naive_n' then naive_n
      when verdict = headline_formula and abs(published - headline) <= roughly then headline
      when verdict = nearest_formula then nearest
      else naive
    end as recomputed,
    case
      when verdict = headline_formula and abs(published - headline) <= roughly
        then headline_clustering
      when verdict = nearest_formula then nearest_clustering
      else ''
    end as clustering
  from explained
)
select
  answered.source_id,
  answered.run_id,
  answered.run_model as model,
  answered.run_benchmark as benchmark,
  answered.run_split as split,
  answered.metric_id,
  metric.name as metric,
  metric.filter as metric_filter,
  answered.statistic,
  answered.perturbation,
  answered.published,
  answered.recomputed,
  answered.published - answered.recomputed as difference,
  answered.clustering,
  answered.n_prompts,
  answered.verdict
from answered
join metric on metric.id = answered.metric_id
