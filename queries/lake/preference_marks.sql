-- What is stored of each source of votes: they stay as they are, but for runs that are removed.
-- grain: one row per source of votes
select vote.source_id as unit, source.sha256, count(*) as n, count(vote.run_a_id) as n_run_a,
    count(vote.run_b_id) as n_run_b
from preference vote
join source on source.id = vote.source_id
group by vote.source_id, source.sha256
order by vote.source_id
