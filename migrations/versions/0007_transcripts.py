"""``transcript`` and ``tool_call`` say what happened on the way to a response: turns, tools, limits, messages."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_KEYS = {"run_id": sa.BigInteger, "prompt_id": sa.BigInteger, "variant_id": sa.BigInteger, "draw": sa.Integer}


def _table(name: str, *columns: sa.Column[Any]) -> None:
    keys = [sa.Column(key, kind, nullable=False) for key, kind in _KEYS.items()]
    op.create_table(name, *keys, *columns)
    if op.get_bind().dialect.name == "postgresql":
        op.create_index(f"ix_{name}_run_id", name, ["run_id"], postgresql_using="brin")


def upgrade() -> None:
    _table(
        "transcript",
        sa.Column("uuid", sa.String),
        *(
            sa.Column(name, sa.Integer)
            for name in ("n_messages", "n_turns", "n_tool_calls", "n_tool_errors", "n_events")
        ),
        sa.Column("limit_hit", sa.String),
        sa.Column("cached_tokens", sa.BigInteger),
        sa.Column("reasoning_tokens", sa.BigInteger),
        sa.Column("messages_hash", sa.LargeBinary),
    )
    _table(
        "tool_call",
        sa.Column("tool", sa.String),
        sa.Column("n_calls", sa.Integer, nullable=False),
        sa.Column("n_errors", sa.Integer),
    )


def downgrade() -> None:
    """What happened on the way is in no older store; the texts of its messages go with the next vacuum."""
    op.drop_table("tool_call")
    op.drop_table("transcript")
