-- Answers of runs that a dump says failed, of which its tool stored the worst score of a metric and
-- no status: such a run does not say what failures count as.
-- grain: one row per run, metric and status
-- columns: status: error (an error stands with the answer) or limit (a limit ended it); n: answers
with failed as (
  select run_id, prompt_id, variant_id, draw, 'error' as status
  from generation
  where error is not null and error <> '' and run_id in (:run_ids)
  union all
  select run_id, prompt_id, variant_id, draw, 'limit' as status
  from transcript
  where limit_hit is not null and limit_hit <> '' and run_id in (:run_ids)
)
select score.run_id, score.metric_id, failed.status, cast(count(*) as integer) as n
from failed
join score on score.run_id = failed.run_id and score.prompt_id = failed.prompt_id
    and score.variant_id = failed.variant_id and score.draw = failed.draw
join run on run.id = score.run_id
join benchmark_metric on benchmark_metric.benchmark_id = run.benchmark_id
    and benchmark_metric.metric_id = score.metric_id
where score.metric_id in (:metric_ids) and score.status = 'scored'
    and score.value = case when benchmark_metric.higher_is_better
        then coalesce(
          benchmark_metric.low, case when benchmark_metric.kind = 'binary' then 0 end
        )
      else coalesce(
          benchmark_metric.high, case when benchmark_metric.kind = 'binary' then 1 end
        )
      end
group by score.run_id, score.metric_id, failed.status
