"""``run.settings``: all that a dump says of how a run was made, of which the condition
is made; ``run.marks``: what tells two executions apart. ``ignored_setting``: which of
the settings a person has said do not matter."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_OLD_UNIQUE = (
    "uq_run_condition_key_content_digest",
    ["condition_key", "content_digest"],
)
_UNIQUE = (
    "uq_run_recorded_key_content_digest_execution_key",
    ["recorded_key", "content_digest", "execution_key"],
)
_ADDED = (
    ("recorded_key", "varchar"),
    ("execution_key", "varchar"),
    ("settings", "json"),
    ("marks", "json"),
    ("versions", "json"),
    ("bytes_key", "varchar"),
)


def upgrade() -> None:
    """Settings of runs that are stored already are worked out when the schema has moved
    (``curate.conditions``)."""
    op.create_table(
        "ignored_setting",
        sa.Column("id", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("benchmark", sa.String, nullable=False),
        sa.Column("reason", sa.String, nullable=True),
        sa.Column("created_at", sa.DateTime, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_ignored_setting"),
        sa.UniqueConstraint(
            "name", "benchmark", name="uq_ignored_setting_name_benchmark"
        ),
    )
    if op.get_bind().dialect.name == "postgresql":
        for name, kind in _ADDED:
            op.execute(f"alter table run add column {name} {kind}")
        op.execute("update run set recorded_key = condition_key, execution_key = ''")
        op.alter_column("run", "recorded_key", nullable=False)
        op.alter_column("run", "execution_key", nullable=False)
        op.drop_constraint(_OLD_UNIQUE[0], "run", type_="unique")
        op.create_unique_constraint(_UNIQUE[0], "run", _UNIQUE[1])
    else:
        columns = [
            *_columns(),
            *(f"{name} {kind}{_null(name)}" for name, kind in _ADDED),
        ]
        _make_anew(columns, _UNIQUE, "*, condition_key, '', null, null, null, null")


def downgrade() -> None:
    """Runs of one condition with equal scores were one before: of executions that are
    told apart now, the first stays known by its content, and the others by what marks
    them."""
    op.execute(
        "update run set content_digest = content_digest || '/' || execution_key where "
        "exists ("
        "select 1 from run other where other.id < run.id and other.condition_key = "
        "run.condition_key"
        " and other.content_digest = run.content_digest)"
    )
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint(_UNIQUE[0], "run", type_="unique")
        op.create_unique_constraint(_OLD_UNIQUE[0], "run", _OLD_UNIQUE[1])
        for name, _ in _ADDED:
            op.drop_column("run", name)
    else:
        added = {name for name, _ in _ADDED}
        columns = [column for column in _columns() if column.split()[0] not in added]
        _make_anew(
            columns, _OLD_UNIQUE, ", ".join(column.split()[0] for column in columns)
        )
    op.drop_table("ignored_setting")


def _null(name: str) -> str:
    return " not null" if name in ("recorded_key", "execution_key") else ""


def _columns() -> list[str]:
    """The columns of ``run`` as they are, as a statement that makes the table says
    them."""
    rows = op.get_bind().exec_driver_sql("pragma table_info('run')").fetchall()
    return [
        f"{name} {kind}{' not null' if is_needed else ''}"
        for _, name, kind, is_needed, *_ in rows
    ]


def _make_anew(columns: list[str], unique: tuple[str, list[str]], values: str) -> None:
    """A file's table cannot change its constraints: it is made anew, with the rows of
    the old one."""
    name, key = unique
    parts = [
        *columns,
        "constraint pk_run primary key (id)",
        f"constraint {name} unique ({', '.join(key)})",
    ]
    op.execute(f"create table run_anew ({', '.join(parts)})")
    op.execute(f"insert into run_anew select {values} from run order by id")
    op.execute("drop table run")
    op.execute("alter table run_anew rename to run")
