"""Which schema revision a store has, and which one this program needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.errors import SchemaVersionError, cause_of
from warehouse.store.alchemy import sa
from warehouse.store.engines import advice_on
from warehouse.store.schema.head import HEAD

if TYPE_CHECKING:
    from warehouse.store.connection import Store
    from warehouse.store.engines import Dialect

__all__ = ["HEAD", "found", "is_recorded", "recorded", "require"]


def found(store: Store) -> str | None:
    """The revision recorded in the store; ``None`` for an empty store. The engine's
    error where it may not be read."""
    if store.dialect.is_lake:  # it was held to this one when it was opened
        return HEAD
    try:
        with store.begin() as connection:
            return recorded(store.dialect, connection)
    except Exception as error:
        if store.dialect.query_error(cause_of(error)) is None or advice_on(error):
            raise
        return None


def recorded(dialect: Dialect, connection: sa.Connection) -> str | None:
    """The revision in the table that the migrations keep; the engine's own error where
    there is no such table."""
    rows = (
        dialect.select(connection, "select version_num from alembic_version", {}, None)
        .column(0)
        .to_pylist()
    )
    if rows:
        return str(rows[0])
    return None


def is_recorded(dialect: Dialect, connection: sa.Connection) -> bool:
    """True if there is a revision; asked in a transaction that goes on where there is
    no such table."""
    return (
        sa.inspect(connection).has_table("alembic_version")
        and recorded(dialect, connection) is not None
    )


def require(store: Store) -> None:
    """Refuse a store whose schema is not the one that this program works with.

    Raises:
        SchemaVersionError: with both revisions and the command that repairs it.
    """
    revision = found(store)
    if revision == HEAD:
        return
    if revision is not None and revision > HEAD:
        command = (
            "pip install --upgrade eval-warehouse (the store was made by a newer "
            "version)"
        )
    else:
        command = f"warehouse --db {store.name} store upgrade"
        if revision is None:
            command = f"warehouse --db {store.name} store init"
    raise SchemaVersionError(revision, HEAD, command)
