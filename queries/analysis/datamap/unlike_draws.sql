-- Scores that a prompt's mean does not count once each: weighted ones, and those of all draws
-- together. One run after the other: the server reads a run faster than it starts workers.
-- grain: one row per run
select run.id as run_id, (
    select count(*)
    from score
    where score.run_id = run.id and score.metric_id in (:metric_ids)
        and (score.draw < 0 or score.weight <> 1)
) as n_scores
from run
where run.id in (:run_ids)
