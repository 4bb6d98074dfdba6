-- Removes what is of the clusterings of benchmarks that nothing names.
-- grain: one row per row of the table
-- placeholder: table table -- prompt_cluster or cluster
delete from {table}
where clustering_id in (
    select clustering.id
    from clustering
    join unnamed_benchmark on unnamed_benchmark.id = clustering.benchmark_id
)
