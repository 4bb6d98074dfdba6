"""Small helpers for the SELECTs of this room."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.store.connection import Store

#: Rows from which on a column of equal values is kept as one.
FEW = 10_000


def one_of(column: str, values: Sequence[Any], prefix: str) -> tuple[str, dict[str, Any]]:
    """A condition ``column in (…)`` with its parameters; never true for no values.

    Integers (our own ids) stand in the text: binding any value makes a driver import pandas,
    which takes longer than the query. Everything else is bound as ``:prefix0``, ``:prefix1`` ….
    """
    if not values:
        return "1 = 0", {}
    if all(type(value) is int for value in values):
        return f"{column} in ({', '.join(map(str, values))})", {}
    names = [f"{prefix}{place}" for place in range(len(values))]
    places = ", ".join(f":{name}" for name in names)
    return f"{column} in ({places})", dict(zip(names, values, strict=True))


def rows_among(store: Store, query: str, column: str, ids: Collection[int]) -> list[dict[str, Any]]:
    """Rows of a query with ``{here}`` for the condition ``column in ids``; the column is one of the
    result too. Ordered by the query, where reads are shared within each id only."""
    field = column.rpartition(".")[2]
    block = store.block(field)
    if not ids or not block.issuperset(ids):
        return _rows(store, query, column, ids)
    read = store.once((query, column), lambda: _by_id(store, query, column), of_block=True)
    return [row for one in sorted(set(ids)) for row in read.get(one, ())]


def _by_id(store: Store, query: str, column: str) -> dict[int, list[dict[str, Any]]]:
    field = column.rpartition(".")[2]
    found: dict[int, list[dict[str, Any]]] = {}
    for row in _rows(store, query, column, store.block(field)):
        found.setdefault(row[field], []).append(row)
    return found


def _rows(store: Store, query: str, column: str, ids: Collection[int]) -> list[dict[str, Any]]:
    condition, parameters = one_of(column, sorted(set(ids)), "i")
    rows: list[dict[str, Any]] = store.arrow(query.format(here=condition), parameters).to_pylist()
    return rows


def table_among(
    store: Store, query: str, column: str, ids: Collection[int], parameters: Mapping[str, Any] | None = None
) -> pa.Table:
    """`rows_among` as a table. Where reads are shared it has the rows of all ids that are: the caller takes its own."""
    block = store.block(column.rpartition(".")[2])
    condition, bound = one_of(column, sorted(block if ids and block.issuperset(ids) else set(ids)), "i")
    return store.arrow(query.format(here=condition), bound | dict(parameters or {}))


def numbers(table: pa.Table, column: str) -> NDArray[np.float64]:
    """A column of numbers as doubles, shape (rows,), to be read only; null is NaN."""
    chunks = table.column(column).chunks
    if (one := _constant(chunks)) is not None:
        return np.broadcast_to(np.float64(one), table.num_rows)
    found, at = np.empty(table.num_rows), 0
    for chunk in chunks:
        part = found[at : at + len(chunk)]
        part[:] = _values(chunk)
        if chunk.null_count:
            part[~_is_there(chunk)] = np.nan
        at += len(chunk)
    return found


def whole_numbers(table: pa.Table, column: str) -> NDArray[np.int64]:
    """A column of integers without nulls, shape (rows,), to be read only."""
    chunks = table.column(column).chunks
    if (one := _constant(chunks)) is not None:
        return np.broadcast_to(np.int64(one), table.num_rows)
    parts = [_values(chunk) for chunk in chunks]
    return np.concatenate([np.empty(0, np.int64), *parts])


def _constant(chunks: Sequence[pa.Array]) -> float | None:
    """The one value of all rows, NaN for null; None where they differ or are few.

    Of millions of scores most columns are such: weights and draws of 1, no variance. Kept as one number they take
    no memory.
    """
    n = sum(map(len, chunks))
    nulls = sum(chunk.null_count for chunk in chunks)
    if n < FEW or nulls:
        return np.nan if n >= FEW and nulls == n else None
    first = next(_values(chunk)[0] for chunk in chunks if len(chunk))
    return first.item() if all((_values(chunk) == first).all() for chunk in chunks) else None


def _is_there(array: pa.Array) -> NDArray[np.bool_]:
    """Which values of an array that has nulls are not null."""
    bits = np.frombuffer(array.buffers()[0], dtype=np.uint8)
    return np.unpackbits(bits, bitorder="little")[array.offset : array.offset + len(array)].astype(bool)


def _values(array: pa.Array) -> NDArray[Any]:
    """The numbers in the buffer of an array: ``to_numpy`` would import pandas."""
    name = str(array.type)
    kind = np.dtype("float64" if name == "double" else name)
    return np.frombuffer(array.buffers()[1], kind)[array.offset : array.offset + len(array)]
