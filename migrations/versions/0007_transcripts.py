"""``transcript`` and ``tool_call`` say what happened on the way to a response: turns,
tools, limits, messages. ``price`` says what a million tokens cost, for runs that say
only how many they took."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_KEYS = {
    "run_id": sa.BigInteger,
    "prompt_id": sa.BigInteger,
    "variant_id": sa.BigInteger,
    "draw": sa.Integer,
}


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
            for name in (
                "n_messages",
                "n_turns",
                "n_tool_calls",
                "n_tool_errors",
                "n_events",
            )
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
    op.create_table(
        "price",
        sa.Column("id", sa.BigInteger, autoincrement=False),
        sa.Column("model", sa.String, nullable=False),
        sa.Column("valid_from", sa.DateTime, nullable=False),
        sa.Column("input_price", sa.Double, nullable=False),
        sa.Column("output_price", sa.Double, nullable=False),
        sa.Column("cached_price", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_price"),
        sa.UniqueConstraint("model", "valid_from", name="uq_price_model_valid_from"),
    )


def downgrade() -> None:
    """What happened on the way is in no older store; the texts of its messages go with
    the next vacuum."""
    op.execute("delete from id_counter where table_name = 'price'")
    op.drop_table("price")
    op.drop_table("tool_call")
    op.drop_table("transcript")
