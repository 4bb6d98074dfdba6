-- Removes scorers of no metric and no vote.
-- grain: one row per scorer
delete from scorer
where not exists (select 1 from metric where metric.scorer_id = scorer.id)
  and not exists (select 1 from preference where preference.scorer_id = scorer.id)
  and not exists (select 1 from label_draw where label_draw.scorer_id = scorer.id)
