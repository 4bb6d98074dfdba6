"""A person may say which way a metric points: ``benchmark_metric.direction_by`` holds
who said it, ``person`` or null for the dumps."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "benchmark_metric", sa.Column("direction_by", sa.String, nullable=True)
    )


def downgrade() -> None:
    op.drop_column("benchmark_metric", "direction_by")
