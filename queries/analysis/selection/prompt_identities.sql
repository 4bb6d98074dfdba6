-- Whether prompts are one question: the smallest id of those with the same text (where
-- it stands several times in one benchmark and split, with the same choices and target too; where
-- these do, with the same name too), and of those that their sources call alike.
-- grain: one row per prompt
-- placeholder: condition condition -- on prompt.id
with told as (
    select id, benchmark_id, split, text_hash, coalesce(tool_id, key) as name, occurrence,
        choices, target
    from prompt
    where {condition}
),
here as (
    select text_hash, count(*) as n_text, min(id) as first_id
    from told
    where text_hash is not null
    group by text_hash, benchmark_id, split
),
texts as (
    select text_hash, max(n_text) as most_text, min(first_id) as first_id
    from here
    group by text_hash
),
repeated as ( -- only these are told apart by more than their text
    select told.id, told.benchmark_id, told.split, told.text_hash, told.name, told.occurrence,
        coalesce(cast(told.choices as varchar), '') || ' -> ' || coalesce(told.target, '')
            as answers
    from told
    join texts on texts.text_hash = told.text_hash and texts.most_text > 1
),
counted as (
    select *, count(*) over (partition by benchmark_id, split, text_hash, answers) as n_alike
    from repeated
),
most as (
    select *, max(n_alike) over (partition by text_hash, answers) as most_alike
    from counted
),
alike as (
    select id, case when most_alike = 1 then min(id) over (partition by text_hash, answers)
        else min(id) over (partition by text_hash, answers, name, occurrence) end as of_text
    from most
),
names as (
    select split, name, occurrence, min(id) as of_name
    from told
    group by split, name, occurrence
)
select told.id, told.benchmark_id,
    case when told.text_hash is null then 0 else 1 end as has_text,
    coalesce(alike.of_text, texts.first_id, told.id) as of_text,
    names.of_name
from told
left join texts on texts.text_hash = told.text_hash
left join alike on alike.id = told.id
join names on names.split = told.split and names.name = told.name
    and names.occurrence = told.occurrence
