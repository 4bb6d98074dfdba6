-- Published standard errors with those recomputed, as the report shows them.
-- grain: one row per run, metric and statistic
select model, benchmark, split, metric, metric_filter, statistic, published, recomputed, n_prompts,
    verdict, clustering
from published_errors
order by benchmark nulls last, model nulls last, metric nulls last, metric_filter nulls last,
    statistic nulls last, run_id nulls last
