"""The views of a store as statements, and a whole store without rows."""

from __future__ import annotations

from typing import Any

from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.schema.later import tables
from warehouse.store.sql import query_files


def definition(view: query_files.NamedQuery) -> str:
    """The statement that makes a view."""
    return f'create view "{view.name}" as {view.text.strip().rstrip(";")}'


def make_objects(raw: Any, connection: sa.Connection) -> None:
    """Make every table and view in an empty database, without what the migrations
    write.

    Args:
        raw: the engine's own connection.
        connection: the same as SQLAlchemy has it.
    """
    tables.metadata.create_all(connection, checkfirst=False)
    connection.commit()
    for view in query_files.views(connection.dialect.name):
        raw.execute(definition(view))


def create_views(store: Store, connection: sa.Connection) -> None:
    """Make every view of ``queries/views``, in order."""
    # the dialect reads every word of a statement, for its count of rows
    raw = engines.scratch_of(connection)
    for view in query_files.views(store.dialect.name):
        text = definition(view)
        if raw is not None:
            raw.execute(text)
        else:
            connection.execute(sa.text(text.replace(":", r"\:")))


def drop_views(store: Store, connection: sa.Connection) -> None:
    """Drop the views that :func:`create_views` makes, last first."""
    for view in reversed(query_files.views(store.dialect.name)):
        connection.exec_driver_sql(f'drop view if exists "{view.name}"')
