-- Whether prompts are one question: the smallest id of those with the same text (where
-- it stands several times in one benchmark and split, with the same choices and target too; where
-- these do, with the same name too), and of those that their sources call alike.
-- grain: one row per prompt
-- placeholder: condition condition -- on prompt.id
with told as (
    select id, benchmark_id, split, text_hash, coalesce(tool_id, key) as name, occurrence,
        coalesce(cast(choices as varchar), '') || ' -> ' || coalesce(target, '') as answers
    from prompt
    where {condition}
),
here as (
    select *, count(*) over (partition by benchmark_id, split, text_hash) as n_text,
        count(*) over (partition by benchmark_id, split, text_hash, answers) as n_alike
    from told
),
most as (
    select *, max(n_text) over (partition by text_hash) as most_text,
        max(n_alike) over (partition by text_hash, answers) as most_alike
    from here
)
select id, benchmark_id,
    case when text_hash is null then 0 else 1 end as has_text,
    case when text_hash is null then id
        when most_text = 1 then min(id) over (partition by text_hash)
        when most_alike = 1 then min(id) over (partition by text_hash, answers)
        else min(id) over (partition by text_hash, answers, name, occurrence) end as of_text,
    min(id) over (partition by split, name, occurrence) as of_name
from most
