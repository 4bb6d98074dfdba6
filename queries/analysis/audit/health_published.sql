-- Published figures that the samples do not give, what contradicts them first.
-- grain: one row per published figure, at most :most of them
select run_id, model, benchmark, metric, metric_filter, statistic, published, recomputed,
    difference, n_found, n_declared, verdict, count(*) over () as n_all
from published_against_recomputed
where verdict in ('contradicts', 'truncated', 'null_as_worst')
order by case verdict when 'contradicts' then 0 when 'truncated' then 1 else 2 end,
    abs(difference) desc nulls last, run_id nulls last, benchmark nulls last, metric nulls last,
    metric_filter nulls last, statistic nulls last
limit :most
