-- Published figures of runs that the recomputed ones contradict.
-- grain: one row per published figure
-- placeholder: condition condition -- on benchmark
select benchmark, model, metric, published, recomputed
from published_against_recomputed
where verdict = 'contradicts' and run_id is not null and
{condition}
