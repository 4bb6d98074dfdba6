-- Scores with all their ids.
-- grain: one row per staged row and score
create or replace temp table stage_score as
select s.r, f.run, f.prompt_id, f.variant_id, f.draw, m.metric_id, s.value, s.weight, s.n_draws,
    s.raw, s.status, s.origin, f.perturbation
from stage_score_raw as s
join stage_fact as f on f.r = s.r
join metric_id as m on m.run = s.run and m.metric = s.metric and m.filter = s.filter
