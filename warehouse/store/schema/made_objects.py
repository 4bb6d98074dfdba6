"""The views of a store as statements, and a whole store without rows."""

from __future__ import annotations

from typing import Any

from warehouse.store.alchemy import sa
from warehouse.store.schema.later import tables
from warehouse.store.sql import query_files


def definition(view: query_files.NamedQuery) -> str:
    """The statement that makes a view."""
    return f'create view "{view.name}" as {view.text.strip().rstrip(";")}'


def make_objects(raw: Any, connection: sa.Connection) -> None:
    """Make every table and view in an empty database, without what the migrations write.

    Args:
        raw: the engine's own connection.
        connection: the same as SQLAlchemy has it.
    """
    tables.metadata.create_all(connection)
    connection.commit()
    for view in query_files.views(connection.dialect.name):
        raw.execute(definition(view))
