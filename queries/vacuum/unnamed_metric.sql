-- Removes metrics that nothing is measured by.
-- grain: one row per metric
delete from metric
where not exists (select 1 from benchmark_metric where benchmark_metric.metric_id = metric.id)
  and not exists (select 1 from score where score.metric_id = metric.id)
  and not exists (select 1 from run_metric where run_metric.metric_id = metric.id)
  and not exists (select 1 from published_score where published_score.metric_id = metric.id)
  and not exists (select 1 from scan_value where scan_value.metric_id = metric.id)
  and not exists (select 1 from label_draw where label_draw.metric_id = metric.id)
