-- What tells whether prompts are one question: the smallest id of those with the same text (with the same choices and
-- target too, where a text stands several times in one benchmark and split), and of those that their sources call alike.
-- grain: one row per prompt
with told as (
    select id, benchmark_id, split, text_hash, coalesce(tool_id, key) as name, occurrence,
        md5(coalesce(cast(choices as varchar), '') || chr(31) || coalesce(target, '')) as answers,
        count(*) over (partition by benchmark_id, split, text_hash) as n_here
    from prompt
    where id in (:prompt_ids)
),
counted as (
    select *, max(n_here) over (partition by text_hash) as most from told
)
select id, benchmark_id,
    case when text_hash is null then 0 else 1 end as has_text,
    case when text_hash is null then id
        when most > 1 then min(id) over (partition by text_hash, answers)
        else min(id) over (partition by text_hash) end as of_text,
    min(id) over (partition by split, name, occurrence) as of_name
from counted
