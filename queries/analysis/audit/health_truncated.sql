-- Responses that a limit of tokens, messages or time ended, by current run.
-- grain: one row per run with such responses, at most :most of them
with ended as (
    select fact.run_id, count(*) as n_responses,
        sum(case
            when way.limit_hit is not null or fact.finish_reason in (
                'length', 'LENGTH', 'max_tokens', 'MAX_TOKENS', 'model_length'
            ) then 1 else 0
        end) as n_truncated
    from generation fact
    left join transcript way on way.run_id = fact.run_id and way.prompt_id = fact.prompt_id
        and way.variant_id = fact.variant_id and way.draw = fact.draw
        and way.limit_hit is not null
    group by fact.run_id
)
select r.run_id, r.model, r.benchmark, r.max_tokens, cast(ended.n_truncated as bigint)
        as n_truncated, ended.n_responses, count(*) over () as n_all
from ended
join run_current r on r.run_id = ended.run_id
where ended.n_truncated > 0
order by ended.n_truncated desc nulls last, r.run_id nulls last
limit :most
