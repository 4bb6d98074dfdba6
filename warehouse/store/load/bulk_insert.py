"""Rows made in Python into a table, in bulk: an INSERT that binds value by value takes
a hundred times as long where a source has thousands of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import pyarrow as pa

from warehouse.errors import DiskFullError, InputError, cause_of
from warehouse.records.dump import too_large
from warehouse.store import engines
from warehouse.store.alchemy import sa


class UnfitError(ValueError):
    """A value that its column cannot hold."""


class TooLargeError(UnfitError):
    """A whole number with more bits than its column."""


def append(
    connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Append rows to a table, in one go.

    Args:
        connection: with an open transaction.
        table: where the rows go; columns that the first row lacks stay null.
        rows: values by column name, the same names in each.

    Raises:
        UnfitError: a value that its column cannot hold; roll the transaction back.
    """
    if not rows:
        return
    replaced: Counter[str] = Counter()
    engine = engines.DIALECTS[connection.dialect.name]
    engine.append(connection, table.name, as_arrow(table, rows), replaced)
    # a natural key would not be found again under what it was replaced by
    for name in replaced:
        raise UnfitError(f"U+0000 in {name} of {table.name}")


def as_arrow(table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows as Arrow, each column in the type that the table has it in.

    Args:
        table: of the store.
        rows: at least one; values by column name, the same names in each.

    Raises:
        UnfitError: a value that its column cannot hold.
    """
    names = list(rows[0])
    columns: list[pa.Array] = []
    for name in names:
        columns.append(_column(table.c[name], [row[name] for row in rows]))
    return pa.table(columns, names=names)


def in_text(column: sa.Column[Any], value: Any) -> sa.ColumnElement[Any]:
    """A value for a column, quoted and written into the statement instead of bound to
    it.

    For small statements that every refresh runs: binding any value makes a driver
    import pandas, which takes longer than all else that a refresh with nothing to do
    does.
    """
    if value is None:
        return sa.null()
    if isinstance(column.type, sa.JSON):
        text = sa.literal(engines.json_text(value), sa.String(), literal_execute=True)
        return sa.cast(text, column.type)
    return sa.literal(value, column.type, literal_execute=True)


def _column(column: sa.Column[Any], values: Sequence[Any]) -> pa.Array:
    kind, taken = _form(column.type)
    try:
        return pa.array(_taken(values, taken), type=kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        where = f"{column.name} of {column.table.name}"
        number = too_large(values, pa.list_(kind))
        if number is not None:
            raise TooLargeError(f"{where}: {str(number)[:30]} is too large") from None
        raise UnfitError(f"{where}: {error}") from error


def _taken(values: Sequence[Any], taken: Callable[[Any], Any]) -> Sequence[Any]:
    """Values in the form of their column; nearly all columns hold only what is so."""
    ready = _READY.get(taken, frozenset())
    if taken is _as_it_is or ready.issuperset(map(type, values)):
        return values
    return [None if value is None else taken(value) for value in values]


def _form(kind: sa.types.TypeEngine[Any]) -> tuple[pa.DataType, Callable[[Any], Any]]:
    """The Arrow type of a column, and what brings a value into its form."""
    for column_type, form in _forms():
        if isinstance(kind, column_type):
            return form
    raise NotImplementedError(f"no form for columns of type {kind}")


def _whole(value: Any) -> int:
    if isinstance(value, bool) or value != int(value):
        raise ValueError(f"{value!r} is no whole number")
    return int(value)


def _as_it_is(value: Any) -> Any:
    return value


#: Types of values that need no look, by what brings others into form.
_READY: Mapping[Callable[[Any], Any], frozenset[type]] = {
    _whole: frozenset({int, type(None)}),
    float: frozenset({float, type(None)}),
    engines.json_text: frozenset({type(None)}),
}


@cache
def _forms() -> tuple[tuple[type, tuple[pa.DataType, Callable[[Any], Any]]], ...]:
    return (
        (sa.BigInteger, (pa.int64(), _whole)),
        (sa.Integer, (pa.int32(), _whole)),
        (sa.Float, (pa.float64(), float)),
        (sa.JSON, (pa.string(), engines.json_text)),
        (sa.String, (pa.string(), _as_it_is)),
        (sa.Boolean, (pa.bool_(), _as_it_is)),
        (sa.DateTime, (pa.timestamp("us"), _as_it_is)),
        (sa.LargeBinary, (pa.binary(), _as_it_is)),
    )


class NeedsMemoryError(InputError):
    """A source that cannot be loaded with the memory that the engine may use."""

    def __init__(self, path: str = "") -> None:
        super().__init__(
            "it needs more memory than the engine may use",
            path=path,
            advice="allow more, as in WAREHOUSE_MEMORY_LIMIT=8GB, or split the dump",
        )


@contextmanager
def parsing() -> Iterator[None]:
    """Translate errors of the parser to input errors."""
    try:
        yield
    except Exception as error:
        if reason := engines.disk_full(error):
            raise DiskFullError(reason) from error
        if engines.out_of_memory(error):
            raise NeedsMemoryError from error
        if engines.value_error(error):
            raise unfit(error) from error
        raise


def unfit(error: BaseException, path: str = "") -> InputError:
    """A value that the store cannot hold, with what to do about it."""
    cause = cause_of(error)
    if isinstance(error, TooLargeError):
        advice = "repair that number, or leave it out"
    elif (
        isinstance(cause, UnicodeError)
        or isinstance(cause.__cause__, UnicodeError)
        or any(
            word in str(cause) for word in ("U+0000", "NUL (0x00)", "\\u0000", "0x00")
        )
    ):
        advice = (
            "repair that text: names must be UTF-8 without U+0000; or give it with "
            "--set"
        )
    elif engines.too_long(error):
        advice = "names and ids may have some 2,000 characters here"
    else:
        advice = (
            "this is a defect of the importer, unless --set or the mapping gave the "
            "value"
        )
    problem = (
        f"a value that the store cannot hold: {str(cause).strip().splitlines()[0]}"
    )
    return InputError(problem, path=path, advice=advice)
