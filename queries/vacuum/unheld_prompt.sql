-- Prompts that no run has anything about, to be removed.
-- grain: one row per prompt
create temp table unheld_prompt as
select p.id
from prompt as p
where not exists (select 1 from score as s where s.prompt_id = p.id)
  and not exists (select 1 from generation as g where g.prompt_id = p.id)
  and not exists (select 1 from choice as c where c.prompt_id = p.id)
  and not exists (select 1 from prompt_score as m where m.prompt_id = p.id)
