"""Queries that people type: a view or library query by name, or one SELECT."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from warehouse.errors import MisuseError
from warehouse.store import named
from warehouse.store.binds import bind_names
from warehouse.store.engine import Store

_NAME = re.compile(r"[A-Za-z_]\w*")


def run_query(store: Store, query: str, parameters: Mapping[str, Any]) -> pa.Table:
    """Run a query by name, or, where ``query`` is more than a word, as one SELECT.

    Args:
        store: a guarded store (``open_store(..., guarded=True)``).
        query: name of a view or library query, or SQL with ``:name`` parameters.
        parameters: their values; texts are read as the type that the query declares.

    Raises:
        MisuseError: no such query, a wrong parameter, not one SELECT, or an error in it.
    """
    if _NAME.fullmatch(query.strip()):
        return run_named(store, query.strip(), parameters)
    return run_sql(store, query, parameters)


def run_named(store: Store, name: str, parameters: Mapping[str, Any]) -> pa.Table:
    """Run a view or a library query.

    Raises:
        MisuseError: no such query, or a wrong parameter.
    """
    found = named.find(name, store.dialect.name)
    values = found.bind(parameters)
    if found.kind == "view":
        first = ", ".join(f'"{name}" nulls last' for name, _ in found.columns[:4])
        return store.arrow(f'select * from "{found.name}" order by {first}')
    return store.arrow(found.text.strip().rstrip(";"), values)


def run_sql(store: Store, sql: str, parameters: Mapping[str, Any]) -> pa.Table:
    """Run one SELECT.

    Raises:
        MisuseError: it is not one SELECT, or the engine finds an error in it.
    """
    used = bind_names(sql)
    surplus = [name for name in parameters if name not in used]
    if surplus:
        raise MisuseError(f"the query has no parameter {', '.join(surplus)}")
    text = sql.strip().rstrip(";").rstrip()
    if not text:
        raise MisuseError("an empty query; expected one SELECT")
    try:
        store.dialect.guard(store.connection)  # anew: an earlier query may have loosened it
        store.dialect.require_select(store.connection, text)
        return _apart(store.arrow(text, parameters))
    except Exception as error:
        message = store.dialect.query_error(error)
        if message is None:
            raise
        raise MisuseError(f"the query cannot be run: {message}") from None


def _apart(table: pa.Table) -> pa.Table:
    """Columns of one name told apart, so that no form of the answer loses one: a, a_2, a_3."""
    names: list[str] = []
    taken = set(table.column_names)
    for name in table.column_names:
        shown, number = name, 1
        while shown in names or (number > 1 and shown in taken):
            number += 1
            shown = f"{name}_{number}"
        names.append(shown)
    return table.rename_columns(names)
