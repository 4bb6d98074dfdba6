-- Names that benchmarks are shown under.
-- grain: one row per benchmark
-- placeholder: condition condition -- on benchmark.id
select benchmark.id, coalesce(named.name, benchmark.name) as name
from benchmark
left join benchmark named on named.id = benchmark.canonical_id
where {condition}
