"""``run_source.run_key`` and ``run_source.superseded_by``: a run that several ids of a
tool brought is superseded under each of them by itself."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Under which other ids a run was seen again before is lost: all its sources count
    as of its own."""
    op.add_column("run_source", sa.Column("run_key", sa.String, nullable=True))
    op.add_column(
        "run_source", sa.Column("superseded_by", sa.BigInteger, nullable=True)
    )
    op.execute(
        "update run_source set run_key = run.run_key, superseded_by = run.superseded_by"
        " from run where run.id = run_source.run_id"
    )


def downgrade() -> None:
    op.drop_column("run_source", "superseded_by")
    op.drop_column("run_source", "run_key")
