-- What the newest refresh of the family `reliability` says of benchmarks and suites.
-- grain: one row per benchmark or suite and statistic
select benchmark, statistic, estimate, low, high, n, reason, refreshed_at
from metric_current
where subject_kind = 'benchmark' and strpos(input_fingerprint, 'reliability/') = 1
order by benchmark nulls last, statistic nulls last
