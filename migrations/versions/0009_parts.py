"""``prompt_embedding.part`` says which part of a prompt a vector is of: null is its
question, as in every store of before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("prompt_embedding", sa.Column("part", sa.String, nullable=True))


def downgrade() -> None:
    """No older store knows other parts than the question: their vectors are those of no
    text, and count as missing."""
    kind = "bytea" if op.get_bind().dialect.name == "postgresql" else "blob"
    op.execute(
        f"alter table prompt_embedding alter column text_hash type {kind}"
        " using case when part is null then text_hash end"
    )
    op.drop_column("prompt_embedding", "part")
