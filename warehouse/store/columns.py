"""The columns of an answer as arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.extras import Later

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    # half as long to load as pyarrow, and of use where there are texts
    pc = Later("pyarrow.compute")

__all__ = ["Columns", "pc"]

#: Rows from which on a column of equal values is kept as one.
FEW = 10_000


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns by name."""

    table: pa.Table  #: the answer.

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def whole_numbers(self, name: str) -> NDArray[np.int64]:
        """A column of integers without nulls, shape (rows,), to be read only."""
        chunks = self.table.column(name).chunks
        if (constant := _constant(chunks)) is not None:
            return np.broadcast_to(np.int64(constant), len(self))
        return np.concatenate([np.empty(0, np.int64), *map(_values, chunks)])

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of numbers as doubles, shape (rows,), to be read only; null is NaN."""
        chunks = self.table.column(name).chunks
        if (constant := _constant(chunks)) is not None:
            return np.broadcast_to(np.float64(constant), len(self))
        values = np.empty(len(self))
        start = 0
        for chunk in chunks:
            part = values[start : start + len(chunk)]
            part[:] = _values(chunk)
            if chunk.null_count:
                part[_nulls(chunk)] = np.nan
            start += len(chunk)
        return values

    def objects(self, name: str) -> list[Any]:
        """A column as Python has its values; null is None."""
        values: list[Any] = self.table.column(name).to_pylist()
        return values


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of an answer, each by name of its columns: as ``to_pylist`` has them,
    which looks every value up by name and number, and goes through columns of nulls."""
    names = table.column_names
    return [
        dict(zip(names, values, strict=True))
        for values in zip(*map(_objects, table.columns), strict=True)
    ]


def _objects(column: pa.ChunkedArray) -> list[Any]:
    if column.null_count == len(column):
        return [None] * len(column)
    values: list[Any] = column.to_pylist()
    return values


def _constant(chunks: Sequence[pa.Array]) -> float | None:
    """The one value of all rows, NaN for null; None where they differ or are few.

    Of millions of scores most columns are such: weights and draws of 1, no variance.
    Kept as one number they take no memory.
    """
    n = sum(map(len, chunks))
    nulls = sum(chunk.null_count for chunk in chunks)
    if n < FEW or nulls:
        if n >= FEW and nulls == n:
            return np.nan
        return None
    first = next(_values(chunk)[0] for chunk in chunks if len(chunk))
    if not all((_values(chunk) == first).all() for chunk in chunks):
        return None
    value: float = first.item()
    return value


def _values(array: pa.Array) -> NDArray[Any]:
    """The numbers of an array, anything for null: ``to_numpy`` would import pandas
    (0.15 s)."""
    filled = pa.Array.from_buffers(
        array.type, len(array), [None, array.buffers()[1]], offset=array.offset
    )
    values: NDArray[Any] = np.from_dlpack(filled)
    return values


def _nulls(array: pa.Array) -> NDArray[np.bool_]:
    """Which values of an array with nulls are null: ``is_null`` would import
    ``pyarrow.compute`` (0.1 s)."""
    is_valid = np.frombuffer(array.buffers()[0], np.uint8)
    first = array.offset // 8
    bits = np.unpackbits(
        is_valid[first:], count=array.offset % 8 + len(array), bitorder="little"
    )
    is_null: NDArray[np.bool_] = bits[array.offset % 8 :] == 0
    return is_null


Item = TypeVar("Item")
_SCALARS = frozenset({str, int, float, bool, type(None)})


def in_parts(
    items: Iterable[Item],
    size: Callable[[Item], int],
    most: int,
    most_items: int | None = None,
) -> Iterator[list[Item]]:
    """Items in their order, in parts that are not empty.

    Args:
        size: of an item, in rows or whatever ``most`` counts.
        most: of a part; an item that is larger is a part of its own.
        most_items: of a part; None for any number.
    """
    part: list[Item] = []
    total = 0
    for item in items:
        own = size(item)
        if part and (total + own > most or len(part) == most_items):
            yield part
            part, total = [], 0
        part.append(item)
        total += own
    if part:
        yield part


def held_bytes(value: object) -> dict[int, int]:
    """Bytes of the arrays and packed texts in a value, by the identity of what owns
    them: views are counted as that."""
    todo = [value]
    seen: set[int] = set()
    held: dict[int, int] = {}
    while todo:
        item = todo.pop()
        if isinstance(item, np.ndarray):
            while isinstance(item.base, np.ndarray):
                item = item.base
            held[id(item)] = item.nbytes
        elif isinstance(item, bytes):
            held[id(item)] = len(item)
        elif id(item) not in seen and not isinstance(item, type):
            seen.add(id(item))
            todo += [part for part in _parts_of(item) if type(part) not in _SCALARS]
    return held


def _parts_of(item: object) -> Iterable[object]:
    """Values that a container or an object holds."""
    if isinstance(item, list | tuple):
        return item
    if isinstance(item, dict):
        return item.values()
    attributes = getattr(item, "__dict__", None)
    if attributes:
        return list(attributes.values())
    return ()


def give_back_memory() -> None:
    """To the system, what a long computation left: the allocator would keep it, and
    more with each that follows."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
