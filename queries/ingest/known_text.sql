-- The prompts sent that a source has and this session had not met, with the hash by which their
-- texts are stored; rows that executors have parsed have no hash to look them up by.
-- grain: one row per prompt sent
insert into scratch.main.known_text
select distinct sent_hash, prompt_hash
from stage_sample
where prompt_hash is not null
    and sent_hash is not null
    and sent_hash not in (select sent_hash from scratch.main.known_text)
limit :n_left
