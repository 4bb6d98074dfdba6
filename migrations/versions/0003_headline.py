"""Which metric is a benchmark's headline no longer depends on what was loaded first.

``run_metric`` says which metrics a run has figures of; ``benchmark_metric.default_by``
who calls a metric the headline (what was ``is_default`` counts as the word of a tool),
``is_inferred`` whether its kind and bounds were only seen;
``benchmark.headline_metric`` is what a person chose.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_FILL = """
insert into run_metric (run_id, metric_id, n_scored)
select run_id, metric_id, cast(sum(n) as bigint)
from (
    select run_id, metric_id, count(value) as n from prompt_score group by run_id, metric_id
    union all
    select distinct run_id, metric_id, 0 as n from published_score where run_id is not null
) as held
group by run_id, metric_id
order by run_id, metric_id
"""


def upgrade() -> None:
    op.create_table(
        "run_metric",
        sa.Column("run_id", sa.BigInteger, nullable=False),
        sa.Column("metric_id", sa.BigInteger, nullable=False),
        sa.Column("n_scored", sa.BigInteger, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.create_index(
            "ix_run_metric_run_id", "run_metric", ["run_id"], postgresql_using="brin"
        )
    op.execute(_FILL)
    _retype("varchar using case when is_default then 'tool' end")
    op.execute("alter table benchmark_metric rename column is_default to default_by")
    op.add_column(
        "benchmark_metric", sa.Column("is_inferred", sa.Boolean, nullable=True)
    )
    op.add_column("benchmark", sa.Column("headline_metric", sa.String, nullable=True))


def downgrade() -> None:
    op.drop_column("benchmark", "headline_metric")
    op.drop_column("benchmark_metric", "is_inferred")
    op.execute("alter table benchmark_metric rename column default_by to is_default")
    _retype("boolean using is_default is not null")
    op.drop_table("run_metric")


def _retype(kind: str) -> None:
    op.execute(f"alter table benchmark_metric alter column is_default type {kind}")
