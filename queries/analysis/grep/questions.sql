-- What prompts of benchmarks ask, where it is known.
-- grain: one row per prompt
select id, text from prompt where benchmark_id in (:benchmark_ids) and text is not null
