-- Prompts that no run has anything about and no vote is on, to be removed.
-- grain: one row per prompt
create temp table unheld_prompt as
select p.id
from prompt as p
where not exists (select 1 from score as s where s.prompt_id = p.id)
  and not exists (select 1 from generation as g where g.prompt_id = p.id)
  and not exists (select 1 from choice as c where c.prompt_id = p.id)
  and not exists (select 1 from prompt_score as m where m.prompt_id = p.id)
  and not exists (select 1 from preference as v where v.prompt_id = p.id)
  and not exists (select 1 from label_draw as d where d.prompt_id = p.id)
