-- What people said of benchmarks: other names of metrics, policies, fields that are asked for by
-- plan.
-- grain: one row per declaration
select about, benchmark, subject, said, wrong_value, digest, declared_at
from declaration
order by about, benchmark, subject
