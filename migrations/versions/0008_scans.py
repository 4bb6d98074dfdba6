"""``scan_value`` holds what scanners found in generations, which they name by ``uuid``
or ``place`` of a transcript; scores of the origin ``scanned`` are made of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("transcript", sa.Column("place", sa.String))
    op.create_table(
        "scan_value",
        sa.Column("source_id", sa.BigInteger, nullable=False),
        sa.Column("scan_id", sa.String, nullable=False),
        sa.Column("uuid", sa.String, nullable=False),
        sa.Column("place", sa.String),
        sa.Column("metric_id", sa.BigInteger, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("label", sa.String),
        sa.Column("value", sa.Double),
        sa.Column("raw", sa.String),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("higher_is_better", sa.Boolean),
        sa.Column("scanned_at", sa.DateTime),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.create_index(
            "ix_scan_value_source_id",
            "scan_value",
            ["source_id"],
            postgresql_using="brin",
        )
        for name in ("uuid", "place"):
            op.create_index(f"ix_scan_value_{name}", "scan_value", [name])


#: The runs and metrics whose scores scanners gave.
_OF_SCANNERS = "select run_id, metric_id from score where origin = 'scanned'"


def downgrade() -> None:
    """No older store knows scanners: their scores go, with what was computed of them."""
    for table in ("prompt_score", "run_metric"):
        op.execute(
            f"delete from {table} where exists (select 1 from ({_OF_SCANNERS}) as made"
            f" where made.run_id = {table}.run_id and made.metric_id = "
            f"{table}.metric_id)"
        )
    op.execute("delete from score where origin = 'scanned'")
    op.execute("delete from benchmark_metric where default_by = 'scan'")
    op.drop_table("scan_value")
    op.drop_column("transcript", "place")
