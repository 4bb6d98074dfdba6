-- Benchmarks that hold prompts of the same normalised text as others; a text that stands several
-- times in one benchmark counts only with the same choices and target, and one that is
-- joined to another by a link only where :linked is 1.
-- grain: one row per benchmark with new runs and other benchmark
with own as (
    select distinct benchmark_id from run where id >= :first_run
),
told as (
    select coalesce(benchmark.canonical_id, benchmark.id) as benchmark_id, prompt.text_hash,
        prompt.benchmark_id in (select benchmark_id from own) as is_own,
        coalesce(cast(prompt.choices as varchar), '') || ' -> ' || coalesce(prompt.target, '')
            as answers
    from prompt
    join benchmark on benchmark.id = prompt.benchmark_id
    where (:linked = 1 or prompt.id not in (select prompt_id from prompt_link))
        and prompt.text_hash in (
        select text_hash from prompt where benchmark_id in (select benchmark_id from own))
),
alike as (
    select benchmark_id, text_hash, answers, bool_or(is_own) as is_own, count(*) as n
    from told
    group by benchmark_id, text_hash, answers
),
here as (
    select *, sum(n) over (partition by benchmark_id, text_hash) as n_here from alike
),
counted as (
    select *, max(n_here) over (partition by text_hash) as most from here
),
pair as (
    select a.benchmark_id, b.benchmark_id as other_id, sum(a.n) as n_shared
    from counted a
    join counted b on b.text_hash = a.text_hash and b.benchmark_id <> a.benchmark_id
        and (a.most = 1 or b.answers = a.answers)
    where a.is_own and (not b.is_own or b.benchmark_id < a.benchmark_id)
    group by a.benchmark_id, b.benchmark_id
)
select own_name.name as benchmark, other_name.name as other,
    cast(pair.n_shared as bigint) as n_shared,
    (select count(*) from prompt where prompt.benchmark_id = pair.benchmark_id) as n_prompts
from pair
join benchmark own_name on own_name.id = pair.benchmark_id
join benchmark other_name on other_name.id = pair.other_id
order by pair.n_shared desc nulls last, own_name.name, other_name.name
