-- Squared errors of figures that are weighted means, and how far few prompts make them up.
-- With f the share of the weight of each prompt, F and s the sums of f and f f in a unit (cluster,
-- or prompt), q that of all f f: the squared error is the sum over units of (sum of f (v - r))
-- squared, r the ratio, over 1 - 2F + F F q / s. Clusters are those of the benchmark's default
-- clustering; a prompt outside it is a cluster of its own.
-- grain: one row per run, metric and perturbation with unequal weights
-- columns:
--   run_id: id of the run
--   metric_id: id of the metric
--   perturbation: perturbation or prompt format; '' is the headline form
--   mean: the weighted mean
--   hc0: squared error as if prompts were independent, before the link, over 1
--   hc2: the same over 1 - 2f + q
--   cr0: as hc0, by unit; 0 where each unit's sum is 0 but for rounding
--   cr2: as hc2, by unit
--   n_kish: prompts that would count as much if all weighed the same, 1 / q [Kish 1965]
--   n_effective_units: units likewise, 1 / sum of F F
--   largest_share: the largest F [0 to 1]
with weighted as (  -- read from a statistic of DuckDB's where no figure is
  select distinct run_id, metric_id, perturbation
  from prompt_score
  where weight <> 1
),
whole as (
  select
    fact.run_id,
    fact.metric_id,
    fact.perturbation,
    sum(fact.weight) as w,
    sum(fact.weight * fact.value) / sum(fact.weight) as r,
    sum(fact.weight * fact.weight) / (sum(fact.weight) * sum(fact.weight)) as q
  from prompt_score fact
  join weighted
    on weighted.run_id = fact.run_id
    and weighted.metric_id = fact.metric_id
    and weighted.perturbation = fact.perturbation
  where fact.value is not null
  group by fact.run_id, fact.metric_id, fact.perturbation
  having min(fact.weight) < max(fact.weight)
),
units as (
  select
    fact.run_id,
    fact.metric_id,
    fact.perturbation,
    whole.r,
    whole.q,
    count(*) as n,
    sum(fact.weight) / whole.w as share,
    sum(fact.weight * fact.weight) / (whole.w * whole.w) as squared_shares,
    sum(fact.weight * (fact.value - whole.r)) / whole.w as pull,
    sum(power(fact.weight / whole.w * (fact.value - whole.r), 2)) as squares,
    sum(
      power(fact.weight / whole.w * (fact.value - whole.r), 2)
      / nullif(1 - 2 * fact.weight / whole.w + whole.q, 0)
    ) as alone
  from prompt_score fact
  join whole
    on whole.run_id = fact.run_id
    and whole.metric_id = fact.metric_id
    and whole.perturbation = fact.perturbation
  join run on run.id = fact.run_id
  join benchmark on benchmark.id = run.benchmark_id
  left join prompt_cluster
    on prompt_cluster.clustering_id = benchmark.default_clustering_id
    and prompt_cluster.prompt_id = fact.prompt_id
  where fact.value is not null
  group by
    fact.run_id, fact.metric_id, fact.perturbation, whole.r, whole.q, whole.w,
    coalesce(prompt_cluster.cluster_id, -1 - fact.prompt_id)
)
select
  run_id,
  metric_id,
  perturbation,
  min(r) as mean,
  sum(squares) as hc0,
  sum(alone) as hc2,
  case
    when max(abs(pull)) <= 1e-12 * sqrt(sum(n) * sum(squares)) then 0
    else sum(pull * pull)
  end as cr0,
  case
    when max(abs(pull)) <= 1e-12 * sqrt(sum(n) * sum(squares)) then 0
    else sum(pull * pull / nullif(1 - 2 * share + share * share * q / squared_shares, 0))
  end as cr2,
  1 / min(q) as n_kish,
  1 / sum(share * share) as n_effective_units,
  max(share) as largest_share
from units
group by run_id, metric_id, perturbation
