-- Removes variants of prompts that no fact is of.
-- grain: one row per variant
delete from prompt_variant
where not exists (select 1 from score where score.variant_id = prompt_variant.id)
  and not exists (select 1 from generation where generation.variant_id = prompt_variant.id)
  and not exists (select 1 from transcript where transcript.variant_id = prompt_variant.id)
  and not exists (select 1 from tool_call where tool_call.variant_id = prompt_variant.id)
  and not exists (select 1 from choice where choice.variant_id = prompt_variant.id)
  and not exists (select 1 from draw_score where draw_score.variant_id = prompt_variant.id)
  and not exists (select 1 from preference where preference.variant_id = prompt_variant.id)
  and not exists (select 1 from label_draw where label_draw.variant_id = prompt_variant.id)
