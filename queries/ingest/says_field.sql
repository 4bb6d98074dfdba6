-- Whether any document of the staged samples has a value in a field; $pointer is its JSON pointer.
-- grain: at most one row
select 1
from stage_sample
where json_type(metadata, $pointer) <> 'NULL'
limit 1
