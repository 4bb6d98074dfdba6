-- Order-free digest of the prompts of benchmarks that have new ones: their count and the sum of
-- the 64-bit hashes of their keys.
-- grain: one row per benchmark
select benchmark_id, count(*),
    cast(sum(hash_64(concat_ws(chr(31), split, key, occurrence))) as varchar)
from known_prompt
where benchmark_id in (select benchmark_id from new_prompt)
group by benchmark_id
