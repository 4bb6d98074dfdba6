-- The names of fields that documents of the staged samples have, with a value or without.
-- grain: one row per field
select distinct unnest(json_keys(metadata)) as field
from stage_sample
where metadata is not null and json_type(metadata) = 'OBJECT'
