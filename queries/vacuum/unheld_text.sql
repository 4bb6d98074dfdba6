-- Texts that no generation points to.
-- grain: one row per text
delete from content
where not exists (select 1 from generation as g where g.response_hash = content.sha256)
  and not exists (select 1 from generation as g where g.prompt_hash = content.sha256)
  and not exists (select 1 from transcript as t where t.messages_hash = content.sha256)
