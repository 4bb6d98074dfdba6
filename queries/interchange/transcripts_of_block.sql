-- What happened on the way to responses of a run to a block of prompts, with the messages.
-- grain: one row per prompt, variant and draw that has a transcript
select fact.prompt_id, variant.perturbation, variant.fewshot_draw, variant.template, fact.draw,
    fact.uuid, fact.n_messages, fact.n_turns, fact.n_tool_calls, fact.n_events, fact.limit_hit,
    fact.cached_tokens, fact.reasoning_tokens, said.text as messages
from transcript fact
join prompt_variant variant on variant.id = fact.variant_id
left join content said on said.sha256 = fact.messages_hash
where fact.run_id = :run and fact.prompt_id between :first and :last
order by fact.prompt_id nulls last, fact.variant_id nulls last, fact.draw nulls last
