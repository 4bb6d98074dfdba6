-- Benchmarks whose recorded keys models can be held against: enough of them have stored answers.
-- grain: one row per benchmark
select r.benchmark, count(distinct r.model_id) as n_models
from run_current r
where exists (
    select 1 from prompt where prompt.benchmark_id = r.benchmark_id and prompt.target is not null
)
and (
    r.run_id in (
        select run_id from generation
        where extracted_answer is not null or response_hash is not null
    )
    or r.run_id in (select run_id from choice)
)
group by r.benchmark
having count(distinct r.model_id) >= :fewest
order by count(distinct r.model_id) desc nulls last, r.benchmark
