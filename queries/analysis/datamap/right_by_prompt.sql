-- Draws of unperturbed prompts and, where their mean says so, how many of them scored 1: all were
-- 0 or 1, and no rate stands for several. Weights that differ between them are not seen here
-- (unlike_draws.sql).
-- grain: one row per prompt
select fact.prompt_id, cast(sum(fact.n_draws) as double precision) as n_draws,
    cast(sum(round(fact.value * fact.n_draws)) as double precision) as n_ones,
    min(case when fact.is_binary and fact.n_scored = fact.n_draws and fact.value is not null
        then 1 else 0 end) as is_counted
from prompt_score fact
where fact.perturbation = '' and fact.n_scored > 0
    and fact.metric_id in (:metric_ids) and fact.run_id in (:run_ids)
group by fact.prompt_id
order by fact.prompt_id
