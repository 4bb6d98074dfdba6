"""``statement`` keeps what each source says of what other sources speak of too, so that
it goes with its source."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

#: Of a metric what stands, as said by every source that has figures of it; a direction
#: that a person said is nobody's word. What nobody has figures of is said by every
#: source of the benchmark.
_METRICS = """
insert into statement (source_id, about, subject_id, said)
select held.source_id, 'benchmark_metric', described.id, cast('{' || concat_ws(',',
    case when described.default_by is not null then '"default_by":"' || described.default_by || '"' end,
    case when described.kind is not null then '"kind":"' || described.kind || '"' end,
    case when described.low is not null then '"low":' || cast(described.low as varchar) end,
    case when described.high is not null then '"high":' || cast(described.high as varchar) end,
    case when described.chance_level is not null then '"chance_level":' || cast(described.chance_level as varchar) end,
    case when described.higher_is_better and described.direction_by is null then '"higher_is_better":true' end,
    case when not described.higher_is_better and described.direction_by is null then '"higher_is_better":false' end,
    case when described.is_inferred then '"is_inferred":true' end
) || '}' as json)
from benchmark_metric described
join (
    select distinct run_source.source_id, run.benchmark_id, run_metric.metric_id
    from run_source
    join run on run.id = run_source.run_id
    join run_metric on run_metric.run_id = run.id
    union
    select distinct run_source.source_id, run.benchmark_id, unmeasured.metric_id
    from run_source
    join run on run.id = run_source.run_id
    join benchmark_metric unmeasured on unmeasured.benchmark_id = run.benchmark_id
    where not exists (
        select 1 from run_metric
        join run other on other.id = run_metric.run_id
        where other.benchmark_id = unmeasured.benchmark_id and run_metric.metric_id = unmeasured.metric_id
    )
) held on held.benchmark_id = described.benchmark_id and held.metric_id = described.metric_id
where described.default_by is null or described.default_by <> 'scan'
"""

#: The suites above a benchmark, as said by every source that has runs of it.
_SUITES = """
insert into statement (source_id, about, subject_id, said)
with recursive above (source_id, benchmark_id, depth) as (
    select distinct run_source.source_id, run.benchmark_id, 0
    from run_source
    join run on run.id = run_source.run_id
    union
    select above.source_id, benchmark.parent_id, above.depth + 1
    from above
    join benchmark on benchmark.id = above.benchmark_id
    where benchmark.parent_id is not null and above.depth < 50
)
select above.source_id, 'suites', above.benchmark_id,
    cast('[' || coalesce(cast(benchmark.parent_id as varchar), '') || ']' as json)
from (select distinct source_id, benchmark_id from above) above
join benchmark on benchmark.id = above.benchmark_id
"""

#: What these sources had said of prompts cannot be told apart: each says all that
#: stands.
_EARLIER = """
insert into statement (source_id, about, subject_id)
select id, 'earlier version', id from source where state = 'loaded'
"""


def upgrade() -> None:
    op.create_table(
        "statement",
        sa.Column("source_id", sa.BigInteger, nullable=True),
        sa.Column("about", sa.String, nullable=False),
        sa.Column("subject_id", sa.BigInteger, nullable=False),
        sa.Column("said", sa.JSON(none_as_null=True), nullable=True),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.create_index(
            "ix_statement_source_id",
            "statement",
            ["source_id"],
            postgresql_using="brin",
        )
    for text in (_METRICS, _SUITES, _EARLIER):
        op.execute(sa.text(text.replace('":', '"\\:')))


def downgrade() -> None:
    op.drop_table("statement")
