-- Hash of what makes each staged row's prompt this prompt.
-- grain: one row per staged row that has an identity; r is its number
create or replace temp table stage_hash as
select rowid as r, sha256(identity) as identity_hash
from stage_sample
where identity is not null
