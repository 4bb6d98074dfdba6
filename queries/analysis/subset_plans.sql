-- Plans of subsets that are stored, without their prompts.
-- grain: one row per plan
select id, subject, method_version, parameters, created_at
from analysis
where kind = 'subset_plan'
order by created_at desc nulls last, id desc nulls last
