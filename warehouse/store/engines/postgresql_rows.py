"""Rows of the server engine as columns of Arrow.

Numbers, truths, texts, bytes and times are put into Arrow's buffers here: given a list,
Arrow imports pandas, which takes longer than most queries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import accumulate
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.store.alchemy import sa
from warehouse.store.engines.base import json_text
from warehouse.store.sql.bind_parameters import rename_binds

_NUMERIC = 1700
_ARROW_TYPES = {
    16: pa.bool_(),
    17: pa.binary(),
    20: pa.int64(),
    26: pa.int64(),
    21: pa.int16(),
    23: pa.int32(),
    700: pa.float32(),
    701: pa.float64(),
    _NUMERIC: pa.float64(),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", tz="UTC"),
    1082: pa.date32(),
    1021: pa.list_(pa.float32()),
}
#: What stands in the buffer of a column of numbers; any value, where there is none.
_NUMBERS = {
    pa.int16(): np.int16,
    pa.int32(): np.int32,
    pa.int64(): np.int64,
    pa.float64(): np.float64,
}
#: Bytes of texts that one array can hold.
_MOST_TEXT = 2**31 - 1


def arrow_table(rows: Sequence[Sequence[Any]], columns: Sequence[Any]) -> pa.Table:
    """Rows as the driver gives them.

    Args:
        rows: as long as there are columns.
        columns: the driver's description of each: its name, the number of its type.
    """
    # one list for each column in turn: all at once, the collector of garbage looks at
    # every row again and again
    arrays: list[pa.Array] = []
    for i, column in enumerate(columns):
        arrays.append(_array([row[i] for row in rows], column.type_code))
    return pa.table(arrays, names=[column.name for column in columns])


def _array(values: list[Any], oid: int) -> pa.Array:
    kind = _ARROW_TYPES.get(oid, pa.string())
    if oid == _NUMERIC and _are_whole(values):
        kind = pa.int64()
    if pa.types.is_string(kind):
        return _strings([_encoded(value) for value in values], kind)
    if kind == pa.binary():
        return _strings(values, kind)
    if kind in _NUMBERS:
        return _buffers(values, kind, 0, partial(np.array, dtype=_NUMBERS[kind]))
    if pa.types.is_boolean(kind):
        return _buffers(values, kind, False, _bits)
    if kind == pa.timestamp("us"):
        to_times = partial(np.array, dtype="datetime64[us]")
        return _buffers(values, kind, np.datetime64(0, "us"), to_times)
    return pa.array(values, type=kind)


def _encoded(value: Any) -> bytes | None:
    """A text, or any other value as JSON, in UTF-8."""
    if value is None:
        return None
    if not isinstance(value, str):
        value = json_text(value)
    return bytes(value.encode())


def _bits(values: list[Any]) -> Any:
    return np.packbits(np.array(values, np.bool_), bitorder="little")


def _are_whole(values: list[Decimal | None]) -> bool:
    """True if numerics are the whole numbers that sums of integers are, without
    decimals."""
    there = [value for value in values if value is not None]
    return bool(there) and all(
        value.as_tuple().exponent == 0 and -(2**63) <= value < 2**63 for value in there
    )


def _buffers(
    values: list[Any], kind: pa.DataType, filler: Any, data: Callable[[list[Any]], Any]
) -> pa.Array:
    """An array of values of one width."""
    valid = _validity(values)
    if valid is None:
        filled = values
    else:
        filled = [filler if value is None else value for value in values]
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(data(filled))])


def _strings(values: list[bytes | None], kind: pa.DataType) -> pa.Array:
    encoded = [value or b"" for value in values]
    ends = list(accumulate(map(len, encoded), initial=0))
    if ends[-1] > _MOST_TEXT:
        return pa.array(values, kind)  # in several parts
    offsets = pa.py_buffer(np.array(ends, np.int32))
    content = pa.py_buffer(b"".join(encoded))
    return pa.Array.from_buffers(
        kind, len(values), [_validity(values), offsets, content]
    )


def _validity(values: list[Any]) -> pa.Buffer | None:
    """Which values are there, as bits; None: all are."""
    is_missing = [value is None for value in values]
    if not any(is_missing):
        return None
    return pa.py_buffer(np.packbits(~np.array(is_missing), bitorder="little"))


# --- many numbers by an id ---------------------------------------------------------------------

#: Numbers of one width on the wire, by type number.
_WIRE = {20: ">i8", 21: ">i2", 23: ">i4", 701: ">f8"}
#: Bytes before the first element of an array (dimensions, nulls, type, length, first
#: index).
_HEAD = 20
#: Equal elements that are found at a time.
_RUN = 256


@dataclass(frozen=True)
class Packing:
    """How a SELECT comes packed: a row for each id and for what is mostly alike in its
    rows, in which each other column is one array: an object for each, not for each
    number."""

    columns: Sequence[tuple[str, int]]  #: of the SELECT: name, number of the type.
    #: places of the id, first, and of the columns that are mostly alike.
    heads: Sequence[int]

    @classmethod
    def of(cls, raw: Any, sql: str, per: str) -> Packing | None:
        """``None``: some columns are no numbers, or there is no id or nothing else."""
        columns = described(raw, sql)
        names = [name for name, _ in columns]
        if (
            len(columns) < 2
            or per not in names
            or any(oid not in _WIRE for _, oid in columns)
        ):
            return None
        return cls(
            columns,
            [names.index(per), *_alike(raw, sql, len(columns), names.index(per))],
        )

    @property
    def _others(self) -> list[int]:
        return [
            number for number in range(len(self.columns)) if number not in self.heads
        ]

    def packed(self, sql: str) -> str:
        """The server holds as much of it as it may for a hash, the rest on its disk."""
        heads = ", ".join(f"c{number}" for number in self.heads)
        arrays = "".join(
            f", array_send(array_agg(c{number}))" for number in self._others
        )
        return (
            f"select {heads}, count(*){arrays} {_numbered(sql, len(self.columns))} "
            f"group by {heads}"
        )

    def unpacked(self, rows: Sequence[Sequence[Any]]) -> pa.Table:
        """The rows of `packed` as those of its SELECT, by the id."""
        rows = sorted(rows, key=itemgetter(0))
        n_heads = len(self.heads)
        lengths = [row[n_heads] for row in rows]
        repeats = np.repeat(np.arange(len(rows)), lengths)
        arrays: dict[int, pa.Array] = {}
        for index, number in enumerate(self.heads):
            values = _array([row[index] for row in rows], self.columns[number][1])
            arrays[number] = values.take(_numbers(pa.int64(), repeats))
        for index, number in enumerate(self._others, n_heads + 1):
            stream = b"".join([memoryview(row[index])[_HEAD:] for row in rows])
            oid = self.columns[number][1]
            arrays[number] = _elements(
                stream, sum(lengths), _ARROW_TYPES[oid], np.dtype(_WIRE[oid])
            )
        return pa.table(
            [arrays[number] for number in sorted(arrays)],
            names=[name for name, _ in self.columns],
        )


def _numbered(sql: str, n: int) -> str:
    columns = ", ".join(f"c{number}" for number in range(n))
    return f"from (\n{sql}\n) as q({columns})"


def _alike(raw: Any, sql: str, n: int, own: int) -> list[int]:
    """Columns that, as far as the server has counted, have one value for each id; none
    where rows have an order."""
    if "order by" in sql.lower():
        return []

    def n_groups(*more: int) -> float:
        heads = ", ".join(f"c{number}" for number in (own, *more))
        plan = raw.execute(
            f"explain (format json) select 1 {_numbered(sql, n)} group by {heads}"
        ).fetchone()[0]
        return float(plan[0]["Plan"]["Plan Rows"])

    few = n_groups()
    alike = [number for number in range(n) if number != own and n_groups(number) <= few]
    # all: it takes the rows for very few, and would group each by itself
    return alike if len(alike) < n - 1 else []


def _elements(
    stream: bytes, n: int, kind: pa.DataType, wire: np.dtype[Any]
) -> pa.Array:
    """Elements as the wire has them: the length in bytes (int32, -1 for null), then the
    number."""
    fields = np.dtype([("length", ">i4"), ("value", wire)])
    if len(stream) == n * fields.itemsize:
        return _numbers(
            kind, np.frombuffer(stream, fields)["value"].astype(_NUMBERS[kind])
        )
    there = rb"(?:\0\0\0%c.{%d}){1,%d}" % (wire.itemsize, wire.itemsize, _RUN)
    runs = re.findall(rb"%b|(?:\xff{4}){1,%d}" % (there, _RUN), stream, re.DOTALL)
    lengths = [len(run) // (4 if run[0] else fields.itemsize) for run in runs]
    is_there = np.repeat([run[0] == 0 for run in runs], lengths)
    data = np.zeros(n, _NUMBERS[kind])
    data[is_there] = np.frombuffer(
        b"".join([run for run in runs if run[0] == 0]), fields
    )["value"]
    return _numbers(kind, data, pa.py_buffer(np.packbits(is_there, bitorder="little")))


def _numbers(
    kind: pa.DataType, data: NDArray[Any], valid: pa.Buffer | None = None
) -> pa.Array:
    return pa.Array.from_buffers(kind, len(data), [valid, pa.py_buffer(data)])


# --- columns that can be printed ---------------------------------------------------------------

#: Types by number that Arrow, JSON and a table can hold.
_PLAIN = frozenset(
    {
        16,
        17,
        20,
        21,
        23,
        26,
        700,
        701,
        1700,  # bool, bytea, int8, int2, int4, oid, floats, numeric
        18,
        19,
        25,
        1042,
        1043,
        114,
        3802,  # char, name, text, bpchar, varchar, json, jsonb
        1000,
        1005,
        1007,
        1016,
        1009,
        1015,
        1021,
        1022,  # arrays of bool, int, text, varchar, float
    }
)
#: Dates and times, which the server has beyond the years 1 to 9999, and infinite.
_TIMES = frozenset({1082, 1114, 1184})


def printable(
    connection: sa.Connection, sql: str, params: Mapping[str, Any], times_too: bool
) -> str:
    """The SELECT with columns of other types cast to text.

    Where the server cannot say their types the text comes back unchanged, and its own
    error tells the user what is wrong with it.
    """
    import psycopg

    try:
        columns = described(connection.connection.driver_connection, sql, params)
    except psycopg.Error:
        connection.rollback()
        return sql
    if times_too:
        plain = _PLAIN
    else:
        plain = _PLAIN | _TIMES
    if all(kind in plain for _, kind in columns):
        return sql
    return _cast(sql, [(name, kind in plain) for name, kind in columns])


def described(
    raw: Any, sql: str, params: Mapping[str, Any] = MappingProxyType({})
) -> list[tuple[str, int]]:
    """Name and type number of each column of a SELECT, by a query without rows."""
    text, used = rename_binds(
        f"select * from (\n{sql}\n) as q limit 0".replace("%", "%%"), "%("
    )
    values = {name: params[name] for name in used if name in params}
    with raw.cursor() as cursor:
        cursor.execute(text if used else text.replace("%%", "%"), values or None)
        return [(column.name, column.type_code) for column in cursor.description or ()]


def _cast(sql: str, columns: list[tuple[str, bool]]) -> str:
    inner = ", ".join(f"c{number}" for number in range(len(columns)))
    outer = ", ".join(
        "{} as {}".format(
            f"c{number}" if is_plain else f"cast(c{number} as text)",
            '"' + name.replace('"', '""') + '"',
        )
        for number, (name, is_plain) in enumerate(columns)
    )
    return f"select {outer} from (\n{sql}\n) as q({inner})"
