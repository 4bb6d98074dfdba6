"""Which schema revision a store has, and which one this program needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from warehouse.errors import SchemaVersionError
from warehouse.store.schema.head import HEAD

if TYPE_CHECKING:
    from warehouse.store.connection import Store

__all__ = ["HEAD", "found", "is_recorded", "recorded", "require"]


def found(store: Store) -> str | None:
    """The revision recorded in the store; ``None`` for an empty store."""
    if store.dialect.is_lake:  # it was held to this one when it was opened
        return HEAD
    try:
        with store.begin() as connection:
            return recorded(connection)
    except sa.exc.DBAPIError:
        return None


def recorded(connection: sa.Connection) -> str | None:
    """The revision in the table that the migrations keep.

    Raises:
        sqlalchemy.exc.DBAPIError: there is no such table.
    """
    query = sa.text("select version_num from alembic_version")
    value: str | None = connection.execute(query).scalar_one_or_none()
    return value


def is_recorded(connection: sa.Connection) -> bool:
    """Whether there is a revision; asked in a transaction that goes on where there is no such table."""
    return sa.inspect(connection).has_table("alembic_version") and recorded(connection) is not None


def require(store: Store) -> None:
    """Refuse a store whose schema is not the one that this program works with.

    Raises:
        SchemaVersionError: with both revisions and the command that repairs it.
    """
    revision = found(store)
    if revision == HEAD:
        return
    if revision is not None and revision > HEAD:
        command = "pip install --upgrade eval-warehouse (the store was made by a newer version)"
    else:
        command = f"warehouse --db {store.name} db upgrade"
    raise SchemaVersionError(revision, HEAD, command)
