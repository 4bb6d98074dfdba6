-- Who judged answers against each other on some benchmarks.
-- grain: one row per scorer
select scorer.id, scorer.name, scorer.kind, scorer.judge_model, scorer.parameters_key,
    count(*) as n_votes
from preference
join scorer on scorer.id = preference.scorer_id
where preference.benchmark_id in (:benchmark_ids)
group by scorer.id, scorer.name, scorer.kind, scorer.judge_model, scorer.parameters_key
order by scorer.id
