-- Figures of some runs (:run_ids) by the headline metrics of their benchmarks, before repeats are
-- pooled. Answers that several scorers judged have a figure by each, and none that is the run's.
-- (A sum of one keeps what is infinite, which the minimum of some engines does not.)
-- grain: one row per current run that has a figure
-- columns:
--   n_scorers: judges or scorers that gave the run a figure
--   estimate, standard_error: the figure; null where several gave one
--   n_prompts: prompts behind the figure; null where several gave one, or nobody says
--   is_share: scores lie between 0 and 1
select run_score.run_id, run_score.metric, run_score.metric_filter,
    count(*) as n_scorers,
    case when count(*) = 1 then sum(run_score.estimate) end as estimate,
    case when count(*) = 1 then sum(run_score.standard_error) end as standard_error,
    case when count(*) = 1 then cast(sum(run_score.n_prompts) as bigint) end as n_prompts,
    bool_and(coalesce(
        described.kind = 'binary' or (described.low = 0 and described.high = 1), false
    )) as is_share
from run_score
join run on run.id = run_score.run_id
left join benchmark_metric described on described.benchmark_id = run.benchmark_id
    and described.metric_id = run_score.metric_id
where run_score.is_default and run_score.run_id in (:run_ids)
group by run_score.run_id, run_score.metric, run_score.metric_filter
