"""``seed_summary`` and ``checkpoint_curve`` have more columns: an upgrade makes all
views anew."""

from __future__ import annotations

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing in the tables changes."""


def downgrade() -> None:
    """Nothing in the tables changes."""
