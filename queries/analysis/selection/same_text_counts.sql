-- How many prompts of benchmarks without a default clustering share their text with others.
-- grain: one row per benchmark
select benchmark_id, cast(sum(n) as bigint) as n_prompts, max(n_alike) as largest,
    cast(sum(n_alike) as bigint) as n_alike
from (
    select benchmark_id, count(*) as n,
        case when text_hash is not null and count(*) > 1 then count(*) else 0 end as n_alike
    from prompt
    where benchmark_id in (:benchmark_ids) and benchmark_id not in (
        select id from benchmark where default_clustering_id is not null)
    group by benchmark_id, split, text_hash
) text
group by benchmark_id
order by benchmark_id
