-- Responses of a run to a prompt.
-- grain: one row per variant and draw
select prompt_variant.perturbation, prompt_variant.fewshot_draw, prompt_variant.template,
    fact.draw, sent.text as prompt_sent, answer.text as response, fact.extracted_answer,
    fact.finish_reason, fact.input_tokens, fact.output_tokens, fact.latency, fact.cost,
    fact.error, fact.explanation
from generation fact
join prompt_variant on prompt_variant.id = fact.variant_id
left join content sent on sent.sha256 = fact.prompt_hash
left join content answer on answer.sha256 = fact.response_hash
where fact.run_id = :run and fact.prompt_id = :prompt
order by prompt_variant.perturbation nulls last, prompt_variant.fewshot_draw nulls last,
    prompt_variant.template nulls last, fact.draw nulls last
