-- Published figures with those recomputed, as the report shows them.
-- grain: one row per run, metric and statistic
select model, benchmark, split, metric, metric_filter, statistic, published, recomputed, difference,
    n_published, n_found, verdict
from published_against_recomputed
order by benchmark nulls last, model nulls last, metric nulls last, metric_filter nulls last,
    statistic nulls last, run_id nulls last
