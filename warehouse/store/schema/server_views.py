"""A check that the views of a store on a server have the text that this version gives
them.

A server prints views in its own way, so that ours are made anew, as temporary ones, and
the two are printed. That takes a fifth of a second. What the server keeps of a view
tells in a few milliseconds whether it was changed: once texts were found to be ours,
that is kept in the user's cache, and they are not printed again.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING

from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.schema import found_before
from warehouse.store.schema.head import HEAD, TABLES
from warehouse.store.schema.made_objects import definition
from warehouse.store.sql import query_files

if TYPE_CHECKING:
    from warehouse.store.connection import Store

#: Schema, and number of what is looked at: what another version found counts for
#: nothing.
_MADE_BY = f"{HEAD} 1"


def other_views(store: Store) -> list[str]:
    """Views with another text, in words; also none where the role cannot tell."""
    look = _look(store)
    if found_before.read(look, _MADE_BY):
        return []
    differences = printed_otherwise(store)
    if differences == []:
        found_before.keep(look, _MADE_BY, True)
    return differences or []


def keep_made(store: Store) -> None:
    """The views were made in the transaction that is going on."""
    found_before.keep(_look(store), _MADE_BY, True)


def _look(store: Store) -> str:
    """The subject of a finding: the views, and what they read."""
    names = sorted(TABLES | {*query_files.view_names()})
    rows = store.rows(
        query_files.query_text("server_objects", "look"), {"names": names}
    )
    return f"views {hashlib.sha256(json.dumps(rows).encode()).hexdigest()}"


def printed_otherwise(store: Store) -> list[str] | None:
    """Views whose text is not what this version makes, in words; None where the role
    cannot tell.

    Ours are made in a session of its own, in a transaction that is rolled back: one
    that only reads may make none.
    """
    engine = store.dialect.open_engine(store.url, True, None)
    try:
        with engine.connect() as connection:
            return _compared(connection, store.dialect.name)
    except sa.exc.DBAPIError as error:
        cannot_tell = engines.forbidden(error) or engines.only_reads(error)
        # such as no place for another session
        if cannot_tell or isinstance(error, sa.exc.OperationalError):
            return None
        raise
    finally:
        engine.dispose()


def _compared(connection: sa.Connection, engine: str) -> list[str]:
    schema = connection.exec_driver_sql(
        "select quote_ident(current_schema())"
    ).scalar_one()
    connection.exec_driver_sql(f"set local search_path = pg_temp, {schema}")
    for view in query_files.views(engine):
        text = definition(view).replace("create view", "create temporary view", 1)
        connection.execute(sa.text(text.replace(":", r"\:")))
    rows = connection.execute(
        sa.text(query_files.query_text("server_objects", "views")), {"schema": schema}
    ).all()
    qualifier = re.compile(rf"(?<!\w)(pg_temp_\d+|{re.escape(schema)})\.")
    printed = {
        (name, is_temporary): qualifier.sub("", text)
        for name, is_temporary, text in rows
    }
    names = query_files.view_names()
    missing = [
        f"the view {name} is missing" for name in names if (name, False) not in printed
    ]
    there = [name for name in names if (name, False) in printed]
    other = [
        f"the view {name} has another text"
        for name in there
        if printed[name, True] != printed[name, False]
    ]
    return missing + other
