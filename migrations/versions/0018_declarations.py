"""``declaration``: what people say of a benchmark beside what its dumps say: that two
names of a metric are one, what unscored samples count as, which fields of its prompts
are asked for by plan."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "declaration",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("about", sa.String, nullable=False),
        sa.Column("benchmark", sa.String, nullable=False),
        sa.Column("subject", sa.String, nullable=False),
        sa.Column("said", sa.String, nullable=True),
        sa.Column("wrong_value", sa.Double, nullable=True),
        sa.Column("digest", sa.String, nullable=True),
        sa.Column("declared_at", sa.DateTime, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_declaration"),
        sa.UniqueConstraint(
            "about",
            "benchmark",
            "subject",
            name="uq_declaration_about_benchmark_subject",
        ),
    )


def downgrade() -> None:
    """Metrics go by their own names again, and unscored samples are missing."""
    op.drop_table("declaration")
