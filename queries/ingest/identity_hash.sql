-- Identities whose content key is not known yet, with the hash under which it will be remembered.
-- grain: one row per distinct identity text
select sha256(identity) as identity_hash, any_value(identity) as identity
from stage_sample
where identity is not null
    and sha256(identity) not in (select identity_hash from known_key)
group by sha256(identity)
