"""Alembic environment: runs on the connection that the store hands over."""

from __future__ import annotations

from typing import Any

from alembic import context

from warehouse.store.schema import tables


def include(
    _object: Any, _name: str | None, kind: str, reflected: bool, other: Any
) -> bool:
    """Leave out what this engine was never given: foreign keys and indexes of the
    embedded one."""
    embedded = context.get_context().dialect.name == "duckdb"
    return not (
        embedded and kind in ("foreign_key_constraint", "index") and not reflected
    )


def run() -> None:
    connection = context.config.attributes.get("connection")
    if connection is None:
        raise RuntimeError("run migrations through: warehouse store upgrade")
    context.configure(
        connection=connection,
        target_metadata=tables.metadata,
        include_object=include,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


run()
