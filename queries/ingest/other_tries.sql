-- The other current runs of the condition of a run (:run) that came under its key (:key); where it
-- has none (null), those that came without one, with the same seed and start.
-- grain: one row per run, the longest first
select other.id
from run
join run as other on other.id <> run.id and other.recorded_key = run.recorded_key
join run_source on run_source.run_id = other.id
where run.id = :run
    and other.superseded_by is null
    and other.status <> 'invalidated'
    and run_source.run_key is not distinct from cast(:key as varchar)
    and (
        cast(:key as varchar) is not null
        or (
            (other.marks ->> 'sampling_seed') is not distinct from (run.marks ->> 'sampling_seed')
            and (other.marks ->> 'started_at') is not distinct from (run.marks ->> 'started_at')
        )
    )
group by other.id, other.n_found, other.n_scores
order by other.n_found desc, other.n_scores desc, other.id
