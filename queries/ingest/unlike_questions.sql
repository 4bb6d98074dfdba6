-- Stored questions that are not those of their hashes.
-- grain: one row per prompt
-- placeholder: as_loaded column -- the question as it was when it was hashed
select id
from held_question
where text is not null and text_hash is not null
    and text_hash <> text_hash(text) and text_hash <> text_hash({as_loaded})
order by id
