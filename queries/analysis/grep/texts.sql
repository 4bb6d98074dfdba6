-- Texts that runs hold in one place, each once.
-- grain: one row per text
-- placeholder: column column -- prompt_hash, response_hash or messages_hash
-- placeholder: fact table -- of that column: generation or transcript
select sha256, text
from content
where text is not null and sha256 in (
    select {column} from {fact} where run_id in (:run_ids) and {column} is not null
)
