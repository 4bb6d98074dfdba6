-- What differs between two states of a store on a server: numbers of what was loaded, forgotten,
-- taken out, refreshed, computed or said of it.
-- grain: one row
select
    (select count(*) || '/' || coalesce(max(id), 0) from source) as sources,
    (select count(*) || '/' || coalesce(max(id), 0) from run) as runs,
    (select count(*) from run where status = 'invalidated' or superseded_by is not null) as gone,
    (select count(canonical_id) || '/' || count(default_clustering_id) from benchmark) as names,
    (select count(*) || '/' || coalesce(max(id), 0) from refresh) as refreshes,
    (select count(*) || '/' || coalesce(max(id), 0) from analysis) as analyses,
    (select count(*) || '/' || coalesce(max(id), 0) from clustering) as clusterings,
    (select count(*) || '/' || coalesce(sum(n_scored), 0) from run_metric) as scores
