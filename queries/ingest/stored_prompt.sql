-- Stored prompts of benchmarks within a range of ids, with hashes of what a new source may add.
-- grain: one row per prompt
select id, benchmark_id, split, key, key_kind, occurrence, tool_id, text_hash,
    md5(target) as target_md5,
    md5(cast(choices as varchar)) as choices_md5, md5(cast(metadata as varchar)) as metadata_md5
from prompt
where benchmark_id in (select unnest(cast(:benchmarks as bigint[])))
    and id between :first and :last
