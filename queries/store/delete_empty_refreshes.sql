-- Deletes old refreshes that hold no value any more.
-- grain: one row per refresh
delete from refresh where finished_at < :before and not exists (
    select 1 from metric_value where metric_value.refresh_id = refresh.id
)
