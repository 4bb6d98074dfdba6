-- Responses of a run to a block of prompts.
-- grain: one row per prompt, variant and draw
select fact.prompt_id, variant.perturbation, variant.fewshot_draw, variant.template, fact.draw,
    sent.text as prompt_sent, answer.text as response,
    fact.extracted_answer, fact.finish_reason, fact.input_tokens, fact.output_tokens,
    fact.latency, fact.cost, fact.error, fact.explanation
from generation fact
join prompt_variant variant on variant.id = fact.variant_id
left join content sent on sent.sha256 = fact.prompt_hash
left join content answer on answer.sha256 = fact.response_hash
where fact.run_id = :run and fact.prompt_id between :first and :last
order by fact.prompt_id nulls last, fact.variant_id nulls last, fact.draw nulls last
