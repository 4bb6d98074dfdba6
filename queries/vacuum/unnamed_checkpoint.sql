-- Removes checkpoints that no run and no vote is of.
-- grain: one row per checkpoint
delete from checkpoint
where not exists (select 1 from run where run.checkpoint_id = checkpoint.id)
  and not exists (select 1 from preference where preference.checkpoint_a_id = checkpoint.id)
  and not exists (select 1 from preference where preference.checkpoint_b_id = checkpoint.id)
  and not exists (select 1 from label_draw where label_draw.checkpoint_a_id = checkpoint.id)
  and not exists (select 1 from label_draw where label_draw.checkpoint_b_id = checkpoint.id)
