-- The difference of two runs on the prompts that both have a score of, first minus second.
-- Per-prompt values are linearised where the metric has weights or a link. The sum of each unit (a
-- cluster, or a prompt) is divided by sqrt(a), a = 1 - 2F + F F q / v with F and v the sums of the
-- shares of the weight and of their squares in the unit, q that of all squares: HC2 and CR2 of a
-- weighted mean, and of a plain one. Clusters are the default clustering of the prompts' benchmark;
-- a prompt outside it is a cluster of its own.
-- grain: one row per metric that both runs have
-- parameter: run_a integer -- id of the first run
-- parameter: run_b integer -- id of the second run
-- parameter: metric text = '' -- a metric as name or name,filter; empty for the headline metric
-- columns:
--   metric: name of the metric
--   metric_filter: filter pipeline of the harness; '' if none
--   estimate_a: figure of the first run on the common prompts
--   estimate_b: figure of the second run on the common prompts
--   difference: estimate_a - estimate_b, in the metric's reported unit
--   standard_error: se_cr2 with clusters, else se_eq7; null if not defined or 0
--   ci_normal_low: difference - 1.959963984540054 standard_error
--   ci_normal_high: difference + 1.959963984540054 standard_error
--   correlation: of the two runs over prompts [-1 to 1]
--   n_prompts: prompts that both have a score of
--   only_a: prompts that only the first has a score of
--   only_b: prompts that only the second has a score of
--   n_clusters: clusters among the common prompts; null without clusters
--   se_eq7: error as if prompts were independent [Miller eq. 7; HC2 where weighted]
--   se_eq8: the paper's clustered error [Miller eq. 8]
--   se_cr0: cluster-robust error without correction
--   se_cr1: se_cr0 * sqrt(G / (G - 1))
--   se_cr2: bias-reduced cluster-robust error
with sides as (
  select
    fact.metric_id,
    coalesce(prompt_link.canonical_prompt_id, fact.prompt_id) as prompt_id,
    avg(fact.value) filter (where fact.run_id = :run_a) as a,
    avg(fact.value) filter (where fact.run_id = :run_b) as b,
    avg(fact.weight) filter (where fact.run_id = :run_a and fact.value is not null) as wa,
    avg(fact.weight) filter (where fact.run_id = :run_b and fact.value is not null) as wb
  from prompt_score fact
  join run on run.id = fact.run_id
  join metric on metric.id = fact.metric_id
  left join headline_metric
    on headline_metric.benchmark_id = run.benchmark_id
    and headline_metric.metric_id = fact.metric_id
  left join prompt_link on prompt_link.prompt_id = fact.prompt_id
  where fact.run_id in (:run_a, :run_b)
    and fact.perturbation = ''
    and metric.link <> 'none'
    and (
      (:metric = '' and headline_metric.is_default)
      or metric.name = :metric
      or metric.name || ',' || metric.filter = :metric
    )
  group by fact.metric_id, coalesce(prompt_link.canonical_prompt_id, fact.prompt_id)
),
counted as (
  select
    sides.*,
    count(case when b is null then a end) over whole as only_a,
    count(case when a is null then b end) over whole as only_b
  from sides
  window whole as (partition by metric_id)
),
common as (
  select
    counted.*,
    sum(wa * a) over whole / nullif(sum(wa) over whole, 0) as ratio_a,
    sum(wb * b) over whole / nullif(sum(wb) over whole, 0) as ratio_b,
    avg(wa) over whole as mean_wa,
    avg(wb) over whole as mean_wb,
    wa / nullif(sum(wa) over whole, 0) as share_a,
    wb / nullif(sum(wb) over whole, 0) as share_b,
    sum(wa * wa) over whole / nullif(power(sum(wa) over whole, 2), 0) as q_a,
    sum(wb * wb) over whole / nullif(power(sum(wb) over whole, 2), 0) as q_b
  from counted
  where a is not null and b is not null
  window whole as (partition by metric_id)
),
linear as (
  select
    common.*,
    metric.link,
    case
      when metric.link = 'neg_over_ln2' then -1 / ln(2)
      when metric.link = 'exp_neg' then - exp(- greatest(least(ratio_a, 700), -700))
      else 1
    end * wa / nullif(mean_wa, 0) * (a - ratio_a) as deviation_a,
    case
      when metric.link = 'neg_over_ln2' then -1 / ln(2)
      when metric.link = 'exp_neg' then - exp(- greatest(least(ratio_b, 700), -700))
      else 1
    end * wb / nullif(mean_wb, 0) * (b - ratio_b) as deviation_b
  from common
  join metric on metric.id = common.metric_id
),
grouped as (
  select
    linear.metric_id,
    coalesce(prompt_cluster.cluster_id, -1 - linear.prompt_id) as group_id,
    min(linear.link) as link,
    min(only_a) as only_a,
    min(only_b) as only_b,
    min(ratio_a) as ratio_a,
    min(ratio_b) as ratio_b,
    count(*) as n,
    min(q_a) as q_a,
    min(q_b) as q_b,
    sum(share_a) as f_a,
    sum(share_b) as f_b,
    sum(share_a * share_a) as v_a,
    sum(share_b * share_b) as v_b,
    sum(deviation_a) as total_a,
    sum(deviation_b) as total_b,
    sum(power(
      deviation_a / sqrt(nullif(greatest(1 - 2 * share_a + q_a, 0), 0))
      - deviation_b / sqrt(nullif(greatest(1 - 2 * share_b + q_b, 0), 0)),
      2
    )) as reduced,
    sum(power(deviation_a, 2)) as squares_a,
    sum(power(deviation_b, 2)) as squares_b,
    sum(deviation_a * deviation_b) as products,
    max(abs(deviation_a - deviation_b)) as largest,
    max(greatest(abs(a), abs(b))) as scale_of_values
  from linear
  join prompt on prompt.id = linear.prompt_id
  join benchmark on benchmark.id = prompt.benchmark_id
  left join prompt_cluster
    on prompt_cluster.clustering_id = benchmark.default_clustering_id
    and prompt_cluster.prompt_id = linear.prompt_id
  group by linear.metric_id, coalesce(prompt_cluster.cluster_id, -1 - linear.prompt_id)
),
pulled as (
  select
    grouped.*,
    total_a - total_b as total,
    total_a / sqrt(nullif(greatest(1 - 2 * f_a + f_a * f_a * q_a / nullif(v_a, 0), 0), 0))
      - total_b / sqrt(nullif(greatest(1 - 2 * f_b + f_b * f_b * q_b / nullif(v_b, 0), 0), 0))
      as pull
  from grouped
),
summed as (
  select
    metric_id,
    min(link) as link_name,
    min(only_a) as missing_b,
    min(only_b) as missing_a,
    min(ratio_a) as r_a,
    min(ratio_b) as r_b,
    cast(sum(n) as bigint) as n_prompts,
    count(*) as g,
    bool_or(group_id >= 0) as is_clustered,
    max(largest) <= 1e-12 * max(scale_of_values) as is_constant,
    sum(reduced) as all_squares,
    sum(total * total) as cluster_squares,
    sum(pull * pull) as reduced_squares,
    sum(products) / nullif(sqrt(sum(squares_a)) * sqrt(sum(squares_b)), 0) as r_ab
  from pulled
  group by metric_id
),
errors as (
  select
    summed.*,
    case when is_constant then 0 * all_squares else sqrt(all_squares) / n_prompts end as eq7,
    case when is_clustered and g > 1 and is_constant then 0 * cluster_squares
      when is_clustered and g > 1 then sqrt(cluster_squares) / n_prompts end as cr0,
    case when is_clustered and g > 1 and is_constant then 0 * cluster_squares
      when is_clustered and g > 1 then sqrt(reduced_squares) / n_prompts end as cr2
  from summed
),
figures as (
  select
    errors.*,
    case
      when link_name = 'neg_over_ln2' then - r_a / ln(2)
      when link_name = 'exp_neg' and abs(r_a) < 700 then exp(- r_a)
      when link_name = 'identity' then r_a
    end as figure_a,
    case
      when link_name = 'neg_over_ln2' then - r_b / ln(2)
      when link_name = 'exp_neg' and abs(r_b) < 700 then exp(- r_b)
      when link_name = 'identity' then r_b
    end as figure_b,
    nullif(case when is_clustered then cr2 else eq7 end, 0) as headline
  from errors
)
select
  metric.name as metric,
  metric.filter as metric_filter,
  figure_a as estimate_a,
  figure_b as estimate_b,
  figure_a - figure_b as difference,
  headline as standard_error,
  figure_a - figure_b - 1.959963984540054 * headline as ci_normal_low,
  figure_a - figure_b + 1.959963984540054 * headline as ci_normal_high,
  r_ab as correlation,
  n_prompts,
  missing_b as only_a,
  missing_a as only_b,
  case when is_clustered then g end as n_clusters,
  eq7 as se_eq7,
  sqrt(cr0 * cr0 + eq7 * eq7 / n_prompts) as se_eq8,
  cr0 as se_cr0,
  cr0 * sqrt((g + 0 * cr0) / nullif(g - 1, 0)) as se_cr1,
  cr2 as se_cr2
from figures
join metric on metric.id = figures.metric_id
order by metric.name nulls last, metric.filter nulls last
