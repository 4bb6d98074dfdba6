"""``preference`` holds votes between two models, ``label_draw`` which answers people
were asked to judge and by what chance; ``source.n_votes`` counts those of a source."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def _ids(*names: str, optional: bool = False) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger, nullable=optional) for name in names]


def upgrade() -> None:
    op.add_column("source", sa.Column("n_votes", sa.BigInteger))
    op.create_table(
        "preference",
        *_ids("source_id", "benchmark_id"),
        *_ids("prompt_id", optional=True),
        *_ids("variant_id", "checkpoint_a_id", "checkpoint_b_id"),
        *_ids("run_a_id", "run_b_id", optional=True),
        sa.Column("first", sa.String, nullable=False),
        *_ids("scorer_id"),
        sa.Column("voter", sa.String, nullable=False),
        sa.Column("outcome", sa.String),
        sa.Column("weight", sa.Double, nullable=False),
        sa.Column("draw", sa.Integer, nullable=False),
        sa.Column("covariates", sa.JSON(none_as_null=True)),
        sa.Column("created_at", sa.DateTime),
    )
    op.create_table(
        "label_draw",
        *_ids("source_id", optional=True),
        *_ids("benchmark_id"),
        *_ids("metric_id", "scorer_id", "run_id", "prompt_id", optional=True),
        *_ids("variant_id"),
        sa.Column("draw", sa.Integer, nullable=False),
        *_ids("checkpoint_a_id", "checkpoint_b_id", optional=True),
        sa.Column("wave", sa.Integer, nullable=False),
        sa.Column("seed", sa.BigInteger),
        sa.Column("rule", sa.String, nullable=False),
        sa.Column("stratum", sa.String, nullable=False),
        sa.Column("probability", sa.Double, nullable=False),
        sa.Column("drawn_at", sa.DateTime),
    )
    if op.get_bind().dialect.name == "postgresql":
        for table in ("preference", "label_draw"):
            op.create_index(
                f"ix_{table}_benchmark_id",
                table,
                ["benchmark_id"],
                postgresql_using="brin",
            )


def downgrade() -> None:
    """No older store knows votes: they go, and what was drawn to be labelled. A source
    of votes stays in the ledger as one of no runs."""
    op.drop_table("label_draw")
    op.drop_table("preference")
    op.drop_column("source", "n_votes")
