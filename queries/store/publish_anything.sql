-- Whether sources publish figures of the runs from :first on, or errors of groups; and whether any
-- of these runs has samples, without which nothing is recomputed.
-- grain: one row
select
    exists (select 1 from published_score where run_id >= :first) as of_runs,
    exists (
        select 1 from published_score
        where run_id is null and standard_error is not null and source_id in (:sources)
    ) as of_groups,
    exists (select 1 from prompt_score where run_id >= :first)
    or exists (select 1 from score where run_id >= :first) as have_samples
