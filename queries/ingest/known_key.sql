-- The keys just computed, under the hash of their identity; `key_hash` is the 64-bit hash of the
-- natural key of their first occurrence.
-- grain: one row per distinct identity
insert into known_key
select n.identity_hash, k.key, k.key_no, hash_64(k.key || chr(31) || 0)
from new_key as k
join new_identity as n on n.rowid = k.place
