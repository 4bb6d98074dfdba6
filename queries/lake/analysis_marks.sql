-- What is stored of each analysis: one that is made again has another time.
-- grain: one row per analysis
select id as unit, created_at, method_version, input_fingerprint
from analysis
order by id
