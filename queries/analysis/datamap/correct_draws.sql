-- How many draws of unperturbed prompts were scored, and how many were correct.
-- grain: one row per prompt
-- placeholder: rate column -- share of correct draws in a score of several
-- placeholder: is_correct condition -- a score of one draw is that of a correct one
-- placeholder: usable condition -- the score is one of correctness
select fact.prompt_id, cast(sum(fact.n_draws) as double precision) as n_draws,
    sum(cast(case when fact.n_draws > 1 then {rate} * fact.n_draws
        when {is_correct} then 1 else 0 end as double precision)) as n_correct
from score fact
join prompt_variant variant on variant.id = fact.variant_id
where variant.perturbation = '' and fact.draw >= 0 and fact.value is not null
    and fact.n_draws > 0 and {usable}
    and fact.metric_id in (:metric_ids) and fact.run_id in (:run_ids)
group by fact.prompt_id
order by fact.prompt_id
