-- Responses of a run to a prompt.
-- grain: one row per variant and draw
select prompt_variant.perturbation, prompt_variant.fewshot_draw, prompt_variant.template,
    fact.draw, sent.text as prompt_sent, answer.text as response, fact.extracted_answer,
    fact.finish_reason, fact.input_tokens, fact.output_tokens, fact.latency, fact.cost,
    fact.error, fact.explanation, way.uuid, way.n_messages, way.n_turns, way.n_tool_calls,
    way.n_tool_errors, way.n_events, way.limit_hit, way.cached_tokens, way.reasoning_tokens,
    said.text as messages
from generation fact
join prompt_variant on prompt_variant.id = fact.variant_id
left join content sent on sent.sha256 = fact.prompt_hash
left join content answer on answer.sha256 = fact.response_hash
left join transcript way on way.run_id = fact.run_id and way.prompt_id = fact.prompt_id
    and way.variant_id = fact.variant_id and way.draw = fact.draw
left join content said on said.sha256 = way.messages_hash
where fact.run_id = :run and fact.prompt_id = :prompt
order by prompt_variant.perturbation nulls last, prompt_variant.fewshot_draw nulls last,
    prompt_variant.template nulls last, fact.draw nulls last
