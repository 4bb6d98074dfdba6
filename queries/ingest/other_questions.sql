-- Facts that stand twice whose rows ask different questions: what is known of the prompt differs.
-- grain: one row
-- placeholder: key column -- what makes rows the same fact
-- placeholder: table table -- of staged rows
-- placeholder: fields column -- of the prompt
select count(*) as n, min(first_r) as first_r, min_by(last_r, first_r) as last_r
from (
    select least(min_by(t.r, {fields}), max_by(t.r, {fields})) as first_r,
        greatest(min_by(t.r, {fields}), max_by(t.r, {fields})) as last_r
    from {table} as t
    join stage_sample as s on s.rowid = t.r
    group by {key}
    having count(distinct {fields}) > 1
) as asked
