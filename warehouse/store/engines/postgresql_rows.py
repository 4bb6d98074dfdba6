"""Rows of the server engine as columns of Arrow.

Numbers, truths, texts and times are put into Arrow's buffers here: given a list, Arrow imports pandas, which takes
longer than most queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from warehouse.store.alchemy import sa
from warehouse.store.engines.base import json_text
from warehouse.store.sql.bind_parameters import rename_binds

_ARROW_TYPES = {
    16: pa.bool_(),
    17: pa.binary(),
    20: pa.int64(),
    26: pa.int64(),
    21: pa.int16(),
    23: pa.int32(),
    700: pa.float32(),
    701: pa.float64(),
    1700: pa.float64(),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", tz="UTC"),
    1082: pa.date32(),
    1021: pa.list_(pa.float32()),
}
#: What stands in the buffer of a column of numbers; any value, where there is none.
_NUMBERS = {pa.int16(): np.int16, pa.int32(): np.int32, pa.int64(): np.int64, pa.float64(): np.float64}
#: Bytes of texts that one array can hold.
_MOST_TEXT = 2**31 - 1


def arrow_table(rows: Sequence[Sequence[Any]], columns: Sequence[Any]) -> pa.Table:
    """Rows as the driver gives them.

    Args:
        rows: as long as there are columns.
        columns: the driver's description of each: its name, the number of its type.
    """
    # one list for each column in turn: all at once, the collector of garbage looks at every row again and again
    arrays = [_array([row[i] for row in rows], column.type_code) for i, column in enumerate(columns)]
    return pa.table(arrays, names=[column.name for column in columns])


def _array(values: list[Any], oid: int) -> pa.Array:
    kind = _ARROW_TYPES.get(oid, pa.string())
    if pa.types.is_string(kind):
        return _texts([value if value is None or isinstance(value, str) else json_text(value) for value in values])
    if kind in _NUMBERS:
        return _buffers(values, kind, 0, lambda known: np.array(known, _NUMBERS[kind]))
    if pa.types.is_boolean(kind):
        return _buffers(values, kind, False, lambda known: np.packbits(np.array(known, np.bool_), bitorder="little"))
    if kind == pa.timestamp("us"):
        return _buffers(values, kind, np.datetime64(0, "us"), lambda known: np.array(known, "datetime64[us]"))
    return pa.array(values, type=kind)


def _buffers(values: list[Any], kind: pa.DataType, filler: Any, data: Callable[[list[Any]], Any]) -> pa.Array:
    """An array of values of one width."""
    valid = _validity(values)
    known = values if valid is None else [filler if value is None else value for value in values]
    return pa.Array.from_buffers(kind, len(values), [valid, pa.py_buffer(data(known))])


def _texts(values: list[str | None]) -> pa.Array:
    encoded = [b"" if value is None else value.encode() for value in values]
    ends = list(accumulate(map(len, encoded), initial=0))
    if ends[-1] > _MOST_TEXT:
        return pa.array(values, pa.string())  # in several parts
    places, texts = pa.py_buffer(np.array(ends, np.int32)), pa.py_buffer(b"".join(encoded))
    return pa.Array.from_buffers(pa.string(), len(values), [_validity(values), places, texts])


def _validity(values: list[Any]) -> pa.Buffer | None:
    """Which values are there, as bits; None: all are."""
    is_missing = [value is None for value in values]
    if not any(is_missing):
        return None
    return pa.py_buffer(np.packbits(~np.array(is_missing), bitorder="little"))


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


def printable(connection: sa.Connection, sql: str, params: Mapping[str, Any], times_too: bool) -> str:
    """The SELECT with columns of other types cast to text.

    Asks the server for the types by a query without rows. Where that fails the text comes back
    unchanged, and its own error tells the user what is wrong with it.
    """
    import psycopg

    raw: Any = connection.connection.driver_connection
    text, used = rename_binds(f"select * from (\n{sql}\n) as q limit 0".replace("%", "%%"), "%(")
    values = {name: params[name] for name in used if name in params}
    try:
        with raw.cursor() as cursor:
            cursor.execute(text if used else text.replace("%%", "%"), values or None)
            columns = [(column.name, column.type_code) for column in cursor.description or ()]
    except psycopg.Error:
        connection.rollback()
        return sql
    plain = _PLAIN if times_too else _PLAIN | _TIMES
    if all(kind in plain for _, kind in columns):
        return sql
    return _cast(sql, [(name, kind in plain) for name, kind in columns])


def _cast(sql: str, columns: list[tuple[str, bool]]) -> str:
    inner = ", ".join(f"c{number}" for number in range(len(columns)))
    outer = ", ".join(
        "{} as {}".format(f"c{number}" if is_plain else f"cast(c{number} as text)", '"' + name.replace('"', '""') + '"')
        for number, (name, is_plain) in enumerate(columns)
    )
    return f"select {outer} from (\n{sql}\n) as q({inner})"
