-- Current runs that have two metrics, with answers that these score differently.
-- grain: one row per run and two metrics
-- columns: n: answers with different scores; n_both: answers with both
select run_current.run_id, run_current.model, run_current.benchmark,
    cast(sum(case when first.value = second.value then 0 else 1 end) as integer) as n,
    cast(count(*) as integer) as n_both
from score first
join score second on second.run_id = first.run_id and second.prompt_id = first.prompt_id
    and second.variant_id = first.variant_id and second.draw = first.draw
join run_current on run_current.run_id = first.run_id
where first.metric_id in (:first_ids) and second.metric_id in (:second_ids)
    and run_current.benchmark_id in (:benchmark_ids)
    and (first.value is not null or second.value is not null)
group by run_current.run_id, run_current.model, run_current.benchmark
having sum(case when first.value = second.value then 0 else 1 end) > 0
order by run_current.run_id
