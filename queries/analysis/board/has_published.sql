-- Whether sources publish figures of the runs from :first on.
-- grain: one row
select exists (select 1 from published_score where run_id >= :first) as has_figures
