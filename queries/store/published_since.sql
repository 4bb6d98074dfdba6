-- Published figures of the runs from :first on, each with the one recomputed from samples; and of
-- the groups of new sources those whose published standard error is not that of the mean that is
-- published.
-- grain: one row per run, metric and statistic, or per published figure of a group
select
    source_id, run_id, model, benchmark, metric, metric_filter, statistic, published, recomputed,
    verdict, published_standard_error, recomputed_standard_error, published_error_is
from published_against_recomputed
where run_id >= :first
    or (
        run_id is null and source_id in (:sources)
        and published_error_is in ('benchmarks', 'pooled_prompts', 'prompts')
        and abs(published_standard_error - recomputed_standard_error)
            > 0.01 * recomputed_standard_error
    )
order by run_id nulls last, metric nulls last, statistic nulls last
