-- Figures of refreshes that ended before a time go, but for those that are current.
-- grain: changes rows of metric_value
delete from metric_value
where refresh_id in (select id from refresh where finished_at < :before) and not exists (
    select 1 from metric_current
    where metric_current.refresh_id = metric_value.refresh_id
        and metric_current.subject_kind = metric_value.subject_kind
        and metric_current.subject = metric_value.subject
        and metric_current.benchmark = metric_value.benchmark
        and metric_current.metric = metric_value.metric
        and metric_current.statistic = metric_value.statistic
  )
