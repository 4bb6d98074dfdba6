"""A table for the results of expensive analyses, read back when nothing changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "analysis",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("subject", sa.String, nullable=False),
        sa.Column("parameters_key", sa.String, nullable=False),
        sa.Column("method_version", sa.String, nullable=False),
        sa.Column("input_fingerprint", sa.String, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=True),
        sa.Column("created_at", sa.DateTime, nullable=True),
        sa.Column("parameters", sa.JSON, nullable=True),
        sa.Column("result", sa.JSON, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_analysis"),
        sa.UniqueConstraint(
            "kind",
            "subject",
            "parameters_key",
            name="uq_analysis_kind_subject_parameters_key",
        ),
    )


def downgrade() -> None:
    op.drop_table("analysis")
