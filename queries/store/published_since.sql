-- Published figures of the runs from :first on, each with the one recomputed from samples.
-- grain: one row per run, metric and statistic
select run_id, model, benchmark, metric, metric_filter, statistic, published, recomputed, verdict
from published_against_recomputed
where run_id >= :first
order by run_id nulls last, metric nulls last, statistic nulls last
