-- Whether any prompts are clustered by a field, or any field was declared as a slice.
-- grain: one row where it is so, none where it is not
select 1 as is_there
from clustering
where kind = 'source'
union
select 1 as is_there
from declaration
where about = 'slices'
