-- The fields of documents that the staged samples say.
-- grain: one row per field
select distinct unnest(json_keys(metadata)) as field
from stage_sample
where metadata is not null and json_type(metadata) = 'OBJECT'
