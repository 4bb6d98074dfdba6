"""``price.cache_write_price`` and ``transcript.cache_write_tokens``: what is written
into a cache has its own price."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("price", sa.Column("cache_write_price", sa.Double, nullable=True))
    op.add_column(
        "transcript", sa.Column("cache_write_tokens", sa.BigInteger, nullable=True)
    )


def downgrade() -> None:
    """Input that was written into a cache costs as other input."""
    op.drop_column("transcript", "cache_write_tokens")
    op.drop_column("price", "cache_write_price")
