-- Benchmarks with the name that they are shown under and their default clustering.
-- grain: one row per benchmark
select benchmark.id, benchmark.name, coalesce(named.name, benchmark.name) as canonical,
    benchmark.parent_id, benchmark.default_clustering_id
from benchmark
left join benchmark named on named.id = benchmark.canonical_id
order by benchmark.id
