-- Options of multiple-choice samples with all their ids.
-- grain: one row per staged row and option
create or replace temp table stage_choice as
select f.r, f.run, f.prompt_id, f.variant_id, f.draw, f.place, c.choice_index,
    case when not isnan(c.loglikelihood) then c.loglikelihood end as loglikelihood,
    case when not isnan(c.unconditional_loglikelihood) then c.unconditional_loglikelihood end
        as unconditional_loglikelihood, c.is_greedy, c.n_tokens, c.n_bytes, c.is_target
from (
    select rowid as r, unnest(choice_scores, max_depth := 2)
    from stage_sample
    where len(choice_scores) > 0
) as c
join stage_fact as f on f.r = c.r
