"""``prompt_embedding.template`` says which template was taken off before the text was
embedded: a key of its words, null where the whole text was, as in every store of
before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("prompt_embedding", sa.Column("template", sa.String, nullable=True))


def downgrade() -> None:
    """Vectors of texts without a template are no longer those of their text: they count
    as missing."""
    kind = "bytea" if op.get_bind().dialect.name == "postgresql" else "blob"
    op.execute(
        f"alter table prompt_embedding alter column text_hash type {kind}"
        " using case when template is null then text_hash end"
    )
    op.drop_column("prompt_embedding", "template")
