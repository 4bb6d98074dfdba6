-- Votes of some sources, or of all, that other sources hold too: by the same scorer and voter on
-- the same question and pair, with the same outcome.
-- grain: one row per source and other source
select own.source_id, other.source_id as other_id, source.path as other, count(*) as n
from preference own
join preference other on other.benchmark_id = own.benchmark_id
    and other.scorer_id = own.scorer_id and other.voter = own.voter
    and other.prompt_id = own.prompt_id and other.variant_id = own.variant_id
    and other.checkpoint_a_id = own.checkpoint_a_id
    and other.checkpoint_b_id = own.checkpoint_b_id and other.first = own.first
    and other.draw = own.draw and other.outcome = own.outcome
    and other.source_id <> own.source_id
join source on source.id = other.source_id
where own.source_id in (:sources) or (:of_all = 1 and own.source_id > other.source_id)
group by own.source_id, other.source_id, source.path
order by own.source_id, other.source_id
