-- Groups of new sources whose published standard error is not that of the mean that is published.
-- grain: one row per published figure of a group
select
  source_id,
  benchmark,
  metric,
  published_standard_error,
  recomputed_standard_error,
  published_error_is
from published_against_recomputed
where
  run_id is null and source_id in (:sources)
  and published_error_is in ('benchmarks', 'pooled_prompts', 'prompts')
  and abs(published_standard_error - recomputed_standard_error) > 0.01 * recomputed_standard_error
order by source_id, benchmark, metric
