-- Benchmarks with their parent and the name that they are shown under.
-- grain: one row per benchmark
select benchmark.id, benchmark.name, benchmark.parent_id, benchmark.default_clustering_id,
    coalesce(named.name, benchmark.name) as shown_as
from benchmark
left join benchmark named on named.id = benchmark.canonical_id
order by benchmark.id
