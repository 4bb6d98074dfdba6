"""``price.valid_until`` and ``price.reasoning_price``: prices that end, and tokens of
reasoning at their own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("price", sa.Column("reasoning_price", sa.Double, nullable=True))
    op.add_column("price", sa.Column("valid_until", sa.DateTime, nullable=True))


def downgrade() -> None:
    """Prices that end hold on until the next one; reasoning costs as other output."""
    op.drop_column("price", "valid_until")
    op.drop_column("price", "reasoning_price")
