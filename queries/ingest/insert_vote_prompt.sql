-- Questions that the store does not hold yet, with their text and a hash of it.
-- grain: one row per new prompt; :first_id is the id of the first
select p.prompt_id as id, p.benchmark_id, p.split, p.key,
    case when p.is_id then 'id' else 'content' end as key_kind, cast(0 as integer) as occurrence,
    v.prompt_id as tool_id, text_hash(v.text) as text_hash, v.text, v.target,
    cast(v.metadata as json) as metadata
from vote_prompt as p
join stage_vote as v on v.r = p.first_r
where p.prompt_id >= :first_id
order by p.prompt_id
