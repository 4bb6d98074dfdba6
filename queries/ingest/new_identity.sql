-- Identities whose content key this session has not computed yet, by the first row that has each.
-- grain: one row per distinct identity
select identity_hash, min(rowid) as r
from stage_sample
where identity_hash is not null
    and identity_hash not in (select identity_hash from known_key)
group by identity_hash
order by r
