-- Calls of tools on the way to responses of a run to a block of prompts.
-- grain: one row per prompt, variant, draw and tool
select fact.prompt_id, variant.perturbation, variant.fewshot_draw, variant.template, fact.draw,
    fact.tool, fact.n_calls, fact.n_errors
from tool_call fact
join prompt_variant variant on variant.id = fact.variant_id
where fact.run_id = :run and fact.prompt_id between :first and :last
order by fact.prompt_id nulls last, fact.variant_id nulls last, fact.draw nulls last,
    fact.tool nulls last
