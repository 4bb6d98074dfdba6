-- Some texts.
-- grain: one row per text
select sha256, text from content where sha256 in (:hashes)
