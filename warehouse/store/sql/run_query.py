"""Queries that people type: a view or library query by name, or one SELECT."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.errors import MisuseError, QueryLimitError
from warehouse.records.answer_text import readable, without_surrogates
from warehouse.store import engines
from warehouse.store.connection import Store, require_values
from warehouse.store.sql import query_files
from warehouse.store.sql.bind_parameters import bind_names

#: Days from 1970 to the first day of year 1, and to the first beyond 9999.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_897
_PER_DAY = {
    "day": 1,
    "s": 86_400,
    "ms": 86_400_000,
    "us": 86_400_000_000,
    "ns": 86_400 * 10**9,
}
_NAME = re.compile(r"[A-Za-z_]\w*")


def run_query(store: Store, query: str, parameters: Mapping[str, Any]) -> pa.Table:
    """Run a query by name, or, where ``query`` is more than a word, as one SELECT.

    Args:
        store: a guarded store (``open_store(..., guarded=True)``).
        query: name of a view or library query, or SQL with ``:name`` parameters.
        parameters: their values; texts are read as the type that the query declares.

    Raises:
        MisuseError: no such query, a wrong parameter, not one SELECT, or an error in
            it.
        QueryLimitError: it takes longer, or needs more memory, than the store's limits.
    """
    if is_name(query):
        return run_named(store, query.strip(), parameters)
    return run_sql(store, query, parameters)


def is_name(query: str) -> bool:
    """True if a query is meant as the name of one: a word."""
    return _NAME.fullmatch(query.strip()) is not None


def run_named(store: Store, name: str, parameters: Mapping[str, Any]) -> pa.Table:
    """Run a view or a library query (MisuseError: no such query, or a wrong parameter)."""
    query = query_files.find(name, store.dialect.name)
    values = query.bind(parameters)
    text = query.text.strip().rstrip(";")
    if query.kind == "view":
        columns = ", ".join(f'"{name}" nulls last' for name, _ in query.columns)
        text = f'select * from "{query.name}" order by {columns}'
        values = {}
    with _within_limits(store):
        return store.arrow(text, values)


def run_sql(store: Store, sql: str, parameters: Mapping[str, Any]) -> pa.Table:
    """Run one SELECT (MisuseError: it is not one SELECT, or the engine finds an error
    in it)."""
    used = bind_names(sql)
    surplus = [name for name in parameters if name not in used]
    if surplus:
        raise MisuseError(f"the query has no parameter {', '.join(surplus)}")
    text = sql.strip().rstrip(";").rstrip()
    if not text:
        raise MisuseError("an empty query; expected one SELECT")
    if without_surrogates(text) != text:
        raise MisuseError(
            f"the query holds bytes that are no UTF-8: {without_surrogates(text)[:200]}"
        )
    parameters = {
        name: readable(value) if isinstance(value, str) else value
        for name, value in parameters.items()
    }
    try:
        # anew: an earlier query may have loosened it
        store.dialect.guard(store.connection, store.limits or engines.Limits())
        store.dialect.require_select(store.connection, text)
        with _within_limits(store):
            return _apart(_answer(store, text, parameters))
    except Exception as error:
        message = store.dialect.query_error(error)
        if message is None:
            raise
        raise MisuseError(
            f"the query cannot be run: {message}{_as_library_query(text, message)}"
        ) from None


def _as_library_query(sql: str, message: str) -> str:
    """What to do where a query of the library is taken for a table."""
    tables = re.findall(r"\b(?:from|join)\s+\"?(\w+)", sql, re.IGNORECASE)
    for query in query_files.library():
        if query.name in tables and query.name in message:
            return (
                f"\n{query.name} is a query of the library, and is asked by its name: "
                f"warehouse query {query.name} -p NAME=VALUE"
            )
    return ""


@contextmanager
def _within_limits(store: Store) -> Iterator[None]:
    """Stop what takes longer than it may, and say what to do about that and about too
    little memory."""
    limits = store.limits or engines.Limits()
    with engines.interrupted_after(
        limits.seconds, lambda: store.dialect.interrupt(store.connection)
    ) as clock:
        try:
            yield
        except Exception as error:
            if engines.out_of_memory(error):
                raise QueryLimitError(
                    f"the query needs more than the {limits.setting} of memory that it "
                    "may use, or more of the disk than half of what is free",
                    "--memory SIZE",
                    "memory=",
                ) from None
            if clock.has_run_out and store.dialect.query_error(error) is not None:
                found = f"the query was stopped after {limits.seconds:g} s"
                raise QueryLimitError(
                    found, "--timeout SECONDS, 0 for no limit", "timeout="
                ) from None
            raise


def _answer(store: Store, sql: str, parameters: Mapping[str, Any]) -> pa.Table:
    """The rows, in types that every form of an answer has."""
    require_values(sql, parameters)
    try:
        table = store.arrow(_printable(store, sql, parameters, False), parameters)
    except OverflowError:
        table = None
    if table is not None and not any(map(_beyond_years, table.columns)):
        return table
    return store.arrow(_printable(store, sql, parameters, True), parameters)


def _printable(
    store: Store, sql: str, parameters: Mapping[str, Any], times_too: bool
) -> str:
    with store.reading():
        return store.dialect.printable(store.connection, sql, parameters, times_too)


def _beyond_years(values: pa.ChunkedArray | pa.Array) -> bool:
    """True if a time lies beyond the years 1 to 9999, as infinite ones do, also within
    lists."""
    kind = values.type
    if isinstance(values, pa.ChunkedArray):
        return _may_hold_times(kind) and any(map(_beyond_years, values.chunks))
    if pa.types.is_struct(kind):
        return any(map(_beyond_years, values.flatten()))
    if pa.types.is_map(kind):
        return _beyond_years(values.keys) or _beyond_years(values.items)
    if pa.types.is_nested(kind):
        return _beyond_years(values.flatten())
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)) or not len(values):
        return False
    if pa.types.is_date32(kind):
        unit = "day"
    else:
        unit = getattr(kind, "unit", "ms")
    numbers = values.cast(pa.int32() if unit == "day" else pa.int64())
    extremes = pc.min_max(numbers).as_py()
    first, last = (day * _PER_DAY[unit] for day in (_FIRST_DAY, _LAST_DAY))
    return (
        extremes["min"] is not None
        and not first <= extremes["min"] <= extremes["max"] < last
    )


def _may_hold_times(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_nested(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
    )


def _apart(table: pa.Table) -> pa.Table:
    """Make duplicate column names unique, so that no output format loses one: a, a_2,
    a_3."""
    names: list[str] = []
    taken = set(table.column_names)
    for name in table.column_names:
        shown, number = name, 1
        while shown in names or (number > 1 and shown in taken):
            number += 1
            shown = f"{name}_{number}"
        names.append(shown)
    return table.rename_columns(names)
