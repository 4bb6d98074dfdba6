-- Published figures of runs that the recomputed ones contradict.
-- grain: one row per published figure
select benchmark, model, metric, published, recomputed
from published_against_recomputed
where verdict = 'contradicts' and run_id is not null and benchmark in (:benchmarks)
