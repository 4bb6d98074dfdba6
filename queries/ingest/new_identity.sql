-- Identities whose content key this session has not computed yet.
-- grain: one row per distinct identity
select h.identity_hash, s.identity
from (
    select identity_hash, min(rowid) as r
    from stage_sample
    where identity_hash is not null
        and identity_hash not in (select identity_hash from known_key)
    group by identity_hash
) as h
join stage_sample as s on s.rowid = h.r
order by h.r
