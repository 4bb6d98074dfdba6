-- Prompts to add to the store, with their text and a hash of the normalised question: those whose
-- first rows lie between :low and :high.
-- grain: one row per new prompt of that stretch; :first_id is the id of the first of all
select
    cast(:first_id + n.number - 1 as bigint) as id,
    n.benchmark_id, n.split, n.key, n.key_kind, n.occurrence,
    s.prompt_id as tool_id,
    text_hash(s.text) as text_hash,
    s.text, s.target, cast(s.choices as json) as choices, cast(s.metadata as json) as metadata
from new_prompt as n
join stage_sample as s on s.rowid = n.first_r
where n.first_r between :low and :high and s.rowid between :low and :high
