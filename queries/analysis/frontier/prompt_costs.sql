-- What answers to unperturbed prompts cost: sums over draws, and how many of the draws say it.
-- Tokens count where those in and out are both known; calls are messages that the model wrote.
-- grain: one row per run and prompt
select fact.run_id, fact.prompt_id, count(*) as n,
    count(fact.cost) as n_dollars, sum(fact.cost) as dollars,
    count(fact.latency) as n_seconds, sum(fact.latency) as seconds,
    count(way.n_turns) as n_calls, cast(sum(way.n_turns) as bigint) as calls,
    count(fact.input_tokens + fact.output_tokens) as n_tokens,
    cast(sum(fact.input_tokens + fact.output_tokens) as bigint) as tokens,
    cast(sum(case when fact.input_tokens is not null then fact.output_tokens end) as bigint)
        as output_tokens,
    cast(sum(case when fact.input_tokens is not null and fact.output_tokens is not null
        then coalesce(way.cached_tokens, 0) end) as bigint) as cached_tokens,
    cast(sum(case when fact.input_tokens is not null and fact.output_tokens is not null
        then coalesce(way.cache_write_tokens, 0) end) as bigint) as cache_write_tokens,
    cast(sum(case when fact.input_tokens is not null and fact.output_tokens is not null
        then coalesce(way.reasoning_tokens, 0) end) as bigint) as reasoning_tokens
from generation fact
join prompt_variant on prompt_variant.id = fact.variant_id and prompt_variant.perturbation = ''
left join transcript way on way.run_id = fact.run_id and way.prompt_id = fact.prompt_id
    and way.variant_id = fact.variant_id and way.draw = fact.draw
where fact.run_id in (:run_ids)
group by fact.run_id, fact.prompt_id
