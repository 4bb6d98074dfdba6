-- Samples of runs, with the hashes of what is stored of each.
-- grain: one row per run, prompt, variant and draw
-- columns:
--   prompt_hash: of the prompt as it was sent; null where that text is not stored
--   response_hash: of the response; null where that text is not stored
--   messages_hash: of the transcript; null where its messages are not stored
select fact.run_id, fact.prompt_id, fact.variant_id, fact.draw, fact.error,
    prompt.tool_id, prompt.key, prompt.occurrence, sent.sha256 as prompt_hash,
    answer.sha256 as response_hash, said.sha256 as messages_hash
from generation fact
join prompt on prompt.id = fact.prompt_id
left join transcript way on way.run_id = fact.run_id and way.prompt_id = fact.prompt_id
    and way.variant_id = fact.variant_id and way.draw = fact.draw
left join content sent on sent.sha256 = fact.prompt_hash
left join content answer on answer.sha256 = fact.response_hash
left join content said on said.sha256 = way.messages_hash
where fact.run_id in (:run_ids)
