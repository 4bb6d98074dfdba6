"""``model.release_date``: the day of release that a person said, as ``YYYY-MM-DD``."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("model", sa.Column("release_date", sa.String, nullable=True))


def downgrade() -> None:
    """What was said of it is lost."""
    op.drop_column("model", "release_date")
