-- What two rows of one fact say of their prompt, where that differs: of the first such fact.
-- grain: at most one row
-- placeholder: key column -- what makes rows the same fact
-- placeholder: table table -- of staged rows
select min(s.metadata) as first_said, max(s.metadata) as other_said
from {table} as t
join stage_sample as s on s.rowid = t.r
group by {key}
having count(distinct s.metadata) > 1
order by min(t.r)
limit 1
